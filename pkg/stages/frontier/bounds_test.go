package frontier_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// answering answers every request with a body of n bytes.
func answering(n int64, took time.Duration) func(*world, *crawl.Fetch) reply {
	return func(*world, *crawl.Fetch) reply {
		return reply{took: took, outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200, Wire: n}}
	}
}

// starts are the times of the requests, from the first one's, in their order.
func (w *world) starts() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []time.Duration
	for _, r := range w.log {
		out = append(out, time.Duration(r.start.UnixNano()))
	}
	slices.Sort(out)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] -= out[0]
	}
	return out
}

// most is the greatest number of requests that began within a window.
func most(starts []time.Duration, window time.Duration) (n int) {
	for i := range starts {
		j := i
		for j < len(starts) && starts[j]-starts[i] < window {
			j++
		}
		n = max(n, j-i)
	}
	return n
}

// The servers' log says that the rate holds over all hosts, and that it is used.
func TestTheRateHoldsOverAllHosts(t *testing.T) {
	for _, tc := range []struct {
		rate   float64
		nodes  int
		second int // requests within any second, at most
	}{{5, 1, 5}, {0.5, 1, 1}, {200, 1, 204}, {20, 4, 5}} {
		t.Run(fmt.Sprintf("%v over %d nodes", tc.rate, tc.nodes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.Bounds.Rate = tc.rate
				w := newWorld(t, 1, job)
				w.nodes = func() int { return tc.nodes }
				n := int(max(tc.rate*10, 10))
				w.begin()
				w.add(pages(t, "a", 300, (n+299)/300)[:n]...)
				w.finish()
				w.stop()
				starts := w.starts()
				if len(starts) != n {
					t.Fatalf("%d requests, want %d", len(starts), n)
				}
				took, want := starts[n-1].Seconds(), float64(n-1)/tc.rate*float64(tc.nodes)
				if got := most(starts, time.Second); got > tc.second || took > 1.1*want+0.1 || took < 0.98*want {
					t.Errorf("%d requests in %.2fs, want %.2fs; %d within a second, want at most %d", n, took, want, got, tc.second)
				}
			})
		})
	}
}

// A host that waits for the pace is not forgotten, and the first one comes first.
func TestHostsThatWaitForThePaceTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.Bounds.Rate = 10
		w := newWorld(t, 1, job)
		w.runAll(pages(t, "a", 40, 5)...)
		w.mu.Lock()
		defer w.mu.Unlock()
		first := map[string]int{}
		for i, r := range w.log {
			if _, ok := first[r.host]; !ok {
				first[r.host] = i
			}
		}
		for h, i := range first {
			if i > 80 {
				t.Errorf("%s was asked for the first time after %d requests: 40 hosts take turns", h, i)
			}
		}
		if len(w.log) != 200 {
			t.Errorf("%d requests, want 200", len(w.log))
		}
	})
}

// A job with a rate does not slow another down.
func TestARateIsOfOneJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, fast := aJob("slow"), aJob("fast")
		slow.Bounds.Rate = 1
		w := newWorld(t, 1, slow, fast)
		w.begin()
		w.add(pages(t, "slow", 50, 4)...)
		var other []crawl.Task
		for i := range 40 {
			other = append(other, page(t, "fast", fmt.Sprintf("http://f%d.test/", i)))
		}
		w.add(other...)
		time.Sleep(20 * time.Second)
		w.mu.Lock()
		n := 0
		for _, r := range w.log {
			if r.host[0] == 'f' {
				n++
			}
		}
		all := len(w.log)
		w.mu.Unlock()
		w.stop()
		if n != 40 || all-n > 22 {
			t.Errorf("after 20 s %d of 40 requests of the job without a rate, and %d of the one with 1/s", n, all-n)
		}
	})
}

// What comes in a second, over all hosts, is what the bandwidth allows, but for what is under way.
func TestTheBandwidthHoldsOverAllHosts(t *testing.T) {
	for _, size := range []int64{2 << 10, 50 << 10, 400 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.Bounds.Bandwidth = 100 << 10
				w := newWorld(t, 1, job)
				w.answer = answering(size, 50*time.Millisecond)
				n := int(3 << 20 / size)
				w.begin()
				w.add(pages(t, "a", 300, (n+299)/300)[:n]...)
				w.finish()
				w.stop()
				starts := w.starts()
				took := starts[len(starts)-1].Seconds()
				got := float64(size) * float64(len(starts)-1) / took / (100 << 10)
				if len(starts) != n || got > 1.15 || got < 0.8 {
					t.Errorf("%d of %d requests; %.2f times the bandwidth over %.1f s", len(starts), n, got, took)
				}
			})
		})
	}
}

// A job ends when its bytes have come, over crashes: what is under way is finished. A greater bound lets it go on.
func TestTheBytesOfAJobAreBounded(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.Bounds.MaxBytes = 100 << 10
				w, r := newWorld(t, seed, job), &revised{now: job}
				w.source = r
				w.answer, w.cfg.Window = answering(1<<10, 500*time.Millisecond), 8
				w.begin()
				w.add(pages(t, "a", 30, 20)...)
				for range seed {
					time.Sleep(time.Duration(1+w.roll(3000)) * time.Millisecond)
					w.crash()
					w.begin()
				}
				w.settled()
				spent := w.disk.spent["a"].Bytes
				if !w.f.Exhausted("a") || spent < 100<<10 || spent > (100+8*(int64(seed)+1))<<10 || w.f.Stats().Queued == 0 {
					t.Errorf("%d bytes counted, exhausted %v, %+v", spent, w.f.Exhausted("a"), w.f.Stats())
				}
				before := w.disk.pages()
				raised := *job
				raised.Bounds.MaxBytes, raised.Epoch = 200<<10, 2
				w.f.SetJob(r.revise(func(j *crawl.Job) { *j = raised }))
				w.settled()
				w.stop()
				if n := w.disk.pages(); n < before+90 || w.disk.spent["a"].Bytes < 200<<10 {
					t.Errorf("%d pages before, %d after the bound was raised; %d bytes", before, n, w.disk.spent["a"].Bytes)
				}
			})
		})
	}
}

// The time of a job is that of all its runs, and does not pass between them.
func TestTheTimeOfAJobIsBounded(t *testing.T) {
	for crashes := range 4 {
		t.Run(fmt.Sprint(crashes, " crashes"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.Bounds.MaxTime = crawl.Duration(time.Minute)
				w := newWorld(t, 1, job)
				w.begin()
				w.add(pages(t, "a", 3, 500)...)
				ran, began := time.Duration(0), time.Now()
				for range crashes {
					time.Sleep(7300 * time.Millisecond)
					w.crash()
					ran += time.Since(began)
					time.Sleep(time.Hour)
					w.begin()
					began = time.Now()
				}
				w.settled()
				w.mu.Lock()
				last := time.Time{}
				for _, r := range w.log {
					if r.start.After(last) {
						last = r.start
					}
				}
				w.mu.Unlock()
				w.stop()
				ran += last.Sub(began)
				lost := time.Duration(crashes) * 2 * time.Second // since it was last counted
				if ran < 55*time.Second || ran > time.Minute+lost || !w.f.Exhausted("a") || w.f.Stats().Queued == 0 {
					t.Errorf("it ran for %v, exhausted %v: %+v", ran, w.f.Exhausted("a"), w.f.Stats())
				}
			})
		})
	}
}

// What renders and pages need besides is bound as pages are: nothing is asked for when the time is over, and the job
// has ended though it waits. A greater bound lets it go on.
func TestTheTimeOfAJobBoundsWhatItFetchesBesides(t *testing.T) {
	for _, kind := range []crawl.Kind{crawl.KindAsset, crawl.KindResource} {
		t.Run(kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.Bounds.MaxTime, job.Render.Mode = crawl.Duration(time.Minute), crawl.RenderAlways
				w, r := newWorld(t, 1, job), &revised{now: job}
				w.source = r
				w.begin()
				tasks := pages(t, "a", 3, 100)
				for i := range tasks {
					tasks[i].Kind = kind
				}
				began := time.Now()
				w.add(tasks...)
				w.settled()
				w.mu.Lock()
				asked := len(w.log)
				for _, r := range w.log {
					if at := r.start.Sub(began); at > time.Minute+time.Second {
						t.Fatalf("a request after %v", at)
					}
				}
				w.mu.Unlock()
				if !w.f.Exhausted("a") || w.f.Stats().Queued == 0 || asked == 0 {
					t.Errorf("%d requests, exhausted %v: %+v", asked, w.f.Exhausted("a"), w.f.Stats())
				}
				raised := *job
				raised.Bounds.MaxTime, raised.Epoch = crawl.Duration(time.Hour), 2
				w.f.SetJob(r.revise(func(j *crawl.Job) { *j = raised }))
				w.settled()
				w.stop()
				if all := len(w.log); all != len(tasks) {
					t.Errorf("%d of %d requests when the bound was raised", all, len(tasks))
				}
			})
		})
	}
}

// Where no proxy can be asked, no URL fails, and one lease a second asks again.
func TestNoProxyIsOurTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		w := newWorld(t, 1, job)
		back := time.Now().Add(10 * time.Minute)
		w.answer = func(w *world, f *crawl.Fetch) reply {
			if time.Now().Before(back) {
				return reply{unasked: true, outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonNoProxy}}
			}
			return fine(w, f)
		}
		w.runAll(pages(t, "a", 40, 2)...)
		w.mu.Lock()
		leased, asked := len(w.leased), len(w.log)
		w.mu.Unlock()
		if n := w.disk.pages(); n != 80 || asked != 80 {
			t.Errorf("%d pages of 80 after %d requests", n, asked)
		}
		if leased < 500 || leased > 1000 {
			t.Errorf("%d leases in ten minutes without a proxy", leased)
		}
	})
}
