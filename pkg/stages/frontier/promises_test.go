package frontier_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// impolite lists what a host or an address would complain about.
func impolite(log []request, ipDelay time.Duration) (complaints []string) {
	by := map[string][]request{}
	for _, r := range log {
		by["host "+r.host] = append(by["host "+r.host], r)
		if r.addr != "invalid IP" && ipDelay > 0 {
			r.gap = ipDelay
			by["address "+r.addr] = append(by["address "+r.addr], r)
		}
	}
	for who, rs := range by {
		slices.SortFunc(rs, func(a, b request) int { return cmp.Or(a.start.Compare(b.start), a.end.Compare(b.end)) })
		for i := 1; i < len(rs); i++ {
			if wait := rs[i].start.Sub(rs[i-1].end); wait < rs[i-1].gap {
				complaints = append(complaints,
					fmt.Sprintf("%s: %v after a request that asked for %v (%v)", who, wait, rs[i-1].gap, rs[i].start))
			}
		}
	}
	return complaints
}

// capricious answers like a web full of trouble.
func capricious(w *world, f *crawl.Fetch) reply {
	r := reply{took: time.Duration(1+w.roll(3000)) * time.Millisecond}
	if f.Task.Kind == crawl.KindRobots {
		return capriciousRobots(w, f, r)
	}
	j := w.jobs[f.Task.Job]
	r.gap = min(time.Duration(j.Politeness.DownloadFactor*float64(r.took)), j.Politeness.MaxAdaptive.D())
	if !j.IgnoreRobots {
		r.gap = max(r.gap, crawlDelayOf(f.Task.URL.HostKey()))
	}
	o := &r.outcome
	switch w.roll(12) {
	case 0:
		o.Verdict, o.Status, o.Slow, o.RetryAfter = crawl.VerdictRetry, 503, true, time.Duration(1+w.roll(100))*time.Second
		r.gap = max(r.gap, o.RetryAfter)
	case 1:
		o.Verdict, o.Status, o.Slow = crawl.VerdictRetry, 429, true
		r.gap = max(r.gap, j.Retry.SlowMin.D()*95/100)
	case 2:
		o.Verdict, o.Status, o.Slow = crawl.VerdictRetry, 500, true
	case 3:
		o.Verdict, o.Reason = crawl.VerdictRetry, crawl.ReasonConnect
	case 4:
		o.Verdict, o.Reason, r.unasked = crawl.VerdictBlocked, crawl.ReasonRobots, true
	case 5:
		o.Verdict, o.Reason, r.unasked = crawl.VerdictRetry, crawl.ReasonRobots, true
	case 6:
		o.Verdict, o.Status = crawl.VerdictGone, 404
	default:
		o.Verdict, o.Status = crawl.VerdictDone, 200
	}
	return r
}

// crawlDelayOf is the Crawl-delay that a host asks for.
func crawlDelayOf(host string) time.Duration {
	if len(host)%2 == 0 {
		return 4 * time.Second
	}
	return 0
}

func capriciousRobots(w *world, f *crawl.Fetch, r reply) reply {
	o := &r.outcome
	o.Verdict, o.Status = crawl.VerdictDone, 200
	owner, _ := weburl.Parse(f.Task.For)
	rules := &crawl.RobotsOutcome{Origin: f.Task.For, Expires: time.Now().Add(time.Duration(1+w.roll(600)) * time.Second),
		CrawlDelay: crawlDelayOf(owner.HostKey())}
	o.Robots = rules
	switch n := w.roll(8); {
	case n < 2 && f.Task.Redirects < 5:
		target := []string{"http://" + owner.HostKey() + "/other-robots.txt", "http://h1.test/robots.txt"}[n]
		rules.Redirect, _ = weburl.Parse(target)
		o.Status = 301
	case n == 2:
		o.Verdict, o.Status, o.Reason, o.Robots = crawl.VerdictRetry, 0, crawl.ReasonConnect, nil
	}
	return r
}

// storm crawls a capricious web with crashes at random instants.
func storm(t *testing.T, seed uint64, change func(w *world)) *world {
	a, b := aJob("a"), aJob("b")
	a.IgnoreRobots = false
	b.Politeness.Delay = crawl.Duration(3 * time.Second)
	w := newWorld(t, seed, a, b)
	w.answer, w.addrs, w.fault = capricious, 5, 0.02
	w.cfg.Window, w.cfg.MaxActive, w.cfg.MaxHeld, w.cfg.Batch = 16, 12, 40, 8
	change(w)
	w.begin()
	w.add(pages(t, "a", 17, 12)...)
	for i, task := range pages(t, "b", 9, 4) {
		task.URL, _ = task.URL.Resolve(fmt.Sprintf("/b/%d", i))
		task.Priority = 1 + w.roll(5)
		w.add(task)
	}
	for range 6 {
		for range 1 + w.roll(200) {
			time.Sleep(time.Duration(w.roll(2000)) * time.Millisecond)
			w.checkBounds()
		}
		w.crash()
		time.Sleep(time.Duration(w.roll(2)) * time.Second)
		w.begin()
	}
	w.finish()
	w.stop()
	return w
}

func (w *world) checkBounds() {
	w.t.Helper()
	if n := w.f.Stats().ActiveHosts; n > w.cfg.MaxActive {
		w.t.Errorf("%d active hosts, at most %d allowed", n, w.cfg.MaxActive)
	}
	held := w.cfg.MaxHeld
	if most := w.cfg.MaxBack; most > 0 {
		held *= 2
		if n := w.disk.backQueues(); n > most {
			w.t.Errorf("%d back queues have tasks, at most %d allowed", n, most)
		}
	}
	if n := w.f.Held(); n > held+w.cfg.MaxActive+w.cfg.Batch {
		w.t.Errorf("%d tasks held, at most %d and one a host allowed", n, held)
	}
}

func TestNoHostIsHurriedAndNothingIsLost(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := storm(t, seed, func(w *world) {
					if seed%2 == 1 {
						w.cfg.MaxBack, w.cfg.MaxHeld = 2, 6
					}
				})
				for _, c := range impolite(w.log, 500*time.Millisecond) {
					t.Error(c)
				}
				if len(w.disk.finals) != 17*12+9*4 {
					t.Errorf("%d URLs have outcomes, want %d", len(w.disk.finals), 17*12+9*4)
				}
				for k, n := range w.disk.finals {
					if n != 1 {
						t.Errorf("URL %s has %d outcomes", k, n)
					}
				}
				if len(w.late) > 0 {
					t.Errorf("leased after they were done: %q", w.late)
				}
				if s := w.f.Stats(); s.Queued != 0 || s.InFlight != 0 || s.ActiveHosts != 0 || s.Waiting != 0 || w.f.Held() != 0 {
					t.Errorf("counters drifted: %+v, held %d", s, w.f.Held())
				}
			})
		})
	}
}

// A frontier whose clocks do not work must be noticed.
func TestNegativeControlPoliteness(t *testing.T) {
	for name, hazard := range map[string]func(*world){
		"outcomes that say the request ended long ago":    func(w *world) { w.lie = true },
		"hosts that are freed before their request ended": func(w *world) { w.early, w.fault = true, 0 },
		"hosts that move without telling, in one address": func(w *world) { w.cfg.ShareAddresses = false },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := storm(t, 1, hazard)
				if len(impolite(w.log, 500*time.Millisecond)) == 0 {
					t.Error("nobody complained")
				}
			})
		})
	}
}

// Promise: politeness. A lease may come to two fetchers; one makes the request, the other can only say that nobody
// knows. The rest that the server asked for holds, in whichever order the frontier hears of it.
func TestWhatAServerAskedForHoldsWhateverElseIsSaidOfTheLease(t *testing.T) {
	for round := range 20 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, uint64(round), aJob("a"))
			w.doubt = true
			asked := 0
			w.answer = func(w *world, f *crawl.Fetch) reply {
				r := fine(w, f)
				w.mu.Lock()
				defer w.mu.Unlock()
				if asked++; asked%3 == 0 {
					r.outcome.Verdict, r.outcome.Status, r.outcome.Slow, r.outcome.RetryAfter = crawl.VerdictRetry, 503, true,
						time.Minute
					r.gap = time.Minute
				}
				return r
			}
			w.runAll(pages(t, "a", 40, 6)...)
			for _, c := range impolite(w.log, 500*time.Millisecond) {
				t.Error(c)
			}
		})
	}
}
