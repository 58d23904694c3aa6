package frontier_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// revised is a job that is revised while it runs.
type revised struct {
	mu  sync.Mutex
	now *crawl.Job
}

// Job implements crawl.Jobs.
func (r *revised) Job(context.Context, crawl.JobID) (*crawl.Job, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now, nil
}

// JobAt implements crawl.Jobs.
func (r *revised) JobAt(ctx context.Context, id crawl.JobID, _ uint32) (*crawl.Job, error) {
	return r.Job(ctx, id)
}

func (r *revised) revise(change func(*crawl.Job)) *crawl.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := *r.now
	next.Epoch = crawl.EpochOf(next.Epoch) + 1
	change(&next)
	r.now = &next
	return &next
}

// running starts a crawl of a job that can be revised.
func running(t *testing.T, tasks []crawl.Task, set func(*world, *crawl.Job)) (*world, *revised) {
	job := aJob("a")
	w := newWorld(t, 1, job)
	r := &revised{now: job}
	w.source = r
	set(w, job)
	w.begin()
	w.add(tasks...)
	return w, r
}

// since returns when the requests after a moment began, as offsets from it.
func (w *world) since(at time.Time) (offsets []time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.log {
		if !r.start.Before(at) {
			offsets = append(offsets, r.start.Sub(at))
		}
	}
	return offsets
}

func TestAChangedJobReachesTheNextLease(t *testing.T) {
	second := crawl.Duration(time.Second)
	for name, told := range map[string]bool{"told": true, "seen": false} {
		t.Run("a longer delay counts at once, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, r := running(t, pages(t, "a", 1, 200), func(*world, *crawl.Job) {})
				time.Sleep(20 * time.Second)
				before, at := len(w.since(time.Time{})), time.Now()
				next := r.revise(func(j *crawl.Job) { j.Politeness.Delay = 60 * second })
				if told {
					w.f.SetJob(next)
				}
				time.Sleep(time.Minute)
				after := w.since(at)
				w.stop()
				if before < 15 || len(after) > 1 {
					t.Errorf("%d requests in the 20 s before the delay was raised to 60 s, %d in the minute after: want at most 1",
						before, len(after))
				}
			})
		})
	}
	t.Run("no revision shortens what a host asked for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, r := running(t, pages(t, "a", 1, 20), func(w *world, _ *crawl.Job) {
				w.answer = func(*world, *crawl.Fetch) reply {
					return reply{outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Status: 429, Slow: true,
						RetryAfter: 5 * time.Minute}}
				}
			})
			time.Sleep(10 * time.Second)
			at := time.Now()
			w.f.SetJob(r.revise(func(j *crawl.Job) { j.Politeness.Delay, j.Retry.SlowMax = 0, second }))
			time.Sleep(4 * time.Minute)
			after := w.since(at)
			w.stop()
			if len(after) > 0 {
				t.Errorf("requests after %v: the host asked for 5 minutes", after)
			}
		})
	})
	for name, told := range map[string]bool{"told": true, "seen": false} {
		t.Run("a raised budget lets the job go on, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, r := running(t, pages(t, "a", 3, 20), func(_ *world, j *crawl.Job) { j.MaxPages = 5 })
				w.settled()
				if n := w.disk.pages(); n != 5 || !w.f.Exhausted("a") {
					t.Fatalf("%d pages", n)
				}
				next := r.revise(func(j *crawl.Job) { j.MaxPages = 12 })
				if told {
					w.f.SetJob(next)
				} else {
					w.add(page(t, "a", "http://h0.test/another"))
				}
				w.settled()
				w.stop()
				if n := w.disk.pages(); n != 12 {
					t.Errorf("%d pages, want 12", n)
				}
			})
		})
	}
}

// TestWhatIsQueuedIsJudgedAgain queues 40 tasks, half of which a revision excludes while they wait.
func TestWhatIsQueuedIsJudgedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		seed := page(t, "a", "http://h0.test/private/seed")
		w, r := running(t, nil, func(w *world, _ *crawl.Job) {
			w.judge = func(job *crawl.Job, task *crawl.Task) (reason, rule string, err error) {
				asked.Add(1)
				if strings.Contains(task.URL.Path(), "/private/") && task.URL != seed.URL && crawl.EpochOf(job.Epoch) > 1 {
					return crawl.ReasonExclude, "/private/", nil
				}
				return "", "", nil
			}
		})
		tasks := []crawl.Task{seed}
		for i := range 20 {
			tasks = append(tasks, page(t, "a", fmt.Sprintf("http://h0.test/private/%d", i)),
				page(t, "a", fmt.Sprintf("http://h0.test/open/%d", i)))
		}
		w.add(tasks...)
		time.Sleep(5 * time.Second)
		if n := asked.Load(); n != 0 {
			t.Errorf("%d tasks of the revision that applies were judged", n)
		}
		w.mu.Lock()
		before := len(w.leased)
		w.mu.Unlock()
		w.f.SetJob(r.revise(func(j *crawl.Job) { j.Exclude = []string{"/private/"} }))
		w.finish()
		w.stop()
		left := 0
		for _, task := range tasks {
			e := w.disk.ledger[task.URL.Key()]
			if e.Verdict != crawl.VerdictExcluded {
				continue
			}
			left++
			if e.Reason != crawl.ReasonExclude || e.Epoch != 2 || e.Left == nil || e.Left.Rule != "/private/" ||
				// nobody attempted anything
				e.Left.Task.URL != task.URL || e.Left.Task.Epoch != 2 || !e.Left.Task.Paid || e.Attempts != 0 {
				t.Errorf("%s was left out as %+v, %+v", task.URL, e, e.Left)
			}
		}
		if left < 15 || len(w.leased) != len(tasks)-left {
			t.Errorf("%d of %d were left out and %d fetched, %d of them before", left, len(tasks), len(w.leased), before)
		}
		for i, f := range w.fetches {
			if i < before && f.Task.JobEpoch() != 1 || i > before+1 && f.Task.JobEpoch() != 2 {
				t.Errorf("lease %d carries revision %d", i, f.Task.JobEpoch())
			}
			if i > before+1 && strings.Contains(f.Task.URL.Path(), "/private/") && f.Task.URL != seed.URL {
				t.Errorf("%s was leased after it had been excluded", f.Task.URL)
			}
		}
	})
}

// A task is judged by one revision while the next one is made. What the older revision says of it is not taken for what
// the newer one says: a task that only the older one excludes is fetched, and one that only the newer one excludes is
// not.
func TestARevisionThatComesWhileATaskIsJudged(t *testing.T) {
	for _, excludes := range []uint32{2, 3} {
		t.Run(fmt.Sprint("revision ", excludes, " excludes it"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w *world
				var r *revised
				var once sync.Once
				w, r = running(t, nil, func(w *world, _ *crawl.Job) {
					w.judge = func(job *crawl.Job, task *crawl.Task) (reason, rule string, err error) {
						if crawl.EpochOf(job.Epoch) == 2 {
							once.Do(func() { w.f.SetJob(r.revise(func(j *crawl.Job) { j.MaxDepth++ })) })
						}
						if crawl.EpochOf(job.Epoch) == excludes {
							return crawl.ReasonExclude, "/", nil
						}
						return "", "", nil
					}
				})
				w.f.Pause(true)
				task := page(t, "a", "http://h0.test/one")
				w.add(task)
				synctest.Wait()
				w.f.SetJob(r.revise(func(j *crawl.Job) { j.MaxDepth++ }))
				w.f.Pause(false)
				w.finish()
				w.stop()
				e := w.disk.ledger[task.URL.Key()]
				if out := e.Verdict == crawl.VerdictExcluded; out != (excludes == 3) || out && e.Epoch != 3 {
					t.Errorf("it ended as %+v, and %d tasks were leased", e, len(w.leased))
				}
			})
		})
	}
}
