package frontier_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// mistaken raises a crawl's delay from a second to a minute while requests of 3 s are under way, and takes that back
// once they have ended. It returns when the requests of the 20 s after that began.
func mistaken(t *testing.T, hosts int, set func(*world, *crawl.Job), between func(*world)) []time.Duration {
	w, r := running(t, pages(t, "a", hosts, 200), func(w *world, j *crawl.Job) {
		w.answer = func(*world, *crawl.Fetch) reply {
			return reply{took: 3 * time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}}
		}
		j.Politeness.Delay, j.Politeness.IPDelay = crawl.Duration(time.Second), crawl.Duration(time.Second)
		j.Politeness.DownloadFactor = 0
		set(w, j)
	})
	time.Sleep(20 * time.Second)
	for under := 0; under == 0; under = w.f.Stats().InFlight {
		time.Sleep(100 * time.Millisecond)
	}
	minute := crawl.Duration(time.Minute)
	w.f.SetJob(r.revise(func(j *crawl.Job) { j.Politeness.Delay, j.Politeness.IPDelay = minute, minute }))
	time.Sleep(4 * time.Second)
	between(w)
	next := r.revise(func(j *crawl.Job) {
		j.Politeness.Delay, j.Politeness.IPDelay = crawl.Duration(time.Second), crawl.Duration(time.Second)
	})
	w.f.SetJob(next)
	at := time.Now()
	time.Sleep(20 * time.Second)
	after := w.since(at)
	w.stop()
	return after
}

func TestADelayThatIsTakenBackBindsNobody(t *testing.T) {
	nothing := func(*world, *crawl.Job) {}
	cases := map[string]struct {
		hosts   int
		set     func(*world, *crawl.Job)
		between func(*world)
	}{
		"a host":              {1, nothing, func(*world) {}},
		"hosts on an address": {2, func(w *world, _ *crawl.Job) { w.addrs = 1 }, func(*world) {}},
		"a host that fails": {1, func(w *world, _ *crawl.Job) {
			w.answer = func(*world, *crawl.Fetch) reply {
				return reply{took: 3 * time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictFailed, Status: 500, Slow: true}}
			}
		}, func(*world) {}},
		"after a restart": {1, nothing, func(w *world) { w.crash(); w.begin() }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				after := mistaken(t, c.hosts, c.set, c.between)
				if len(after) < 4 || after[0] > 2*time.Second {
					t.Errorf("%d requests in 20 s, at %v: want one every 4 s, for the delay is a second again", len(after), after)
				}
			})
		})
	}
}

// What a host asked for holds, whatever becomes of the delay; so does another job's delay.
func TestADelayThatIsTakenBackFreesNobodyFromWhatHostsAskFor(t *testing.T) {
	answers := map[string]crawl.Outcome{
		"Retry-After": {Verdict: crawl.VerdictDone, Status: 429, Slow: true, RetryAfter: time.Minute},
		"back-off":    {Verdict: crawl.VerdictDone, Status: 503, Slow: true},
		"failures":    {Verdict: crawl.VerdictFailed, Reason: "refused"},
		"Crawl-delay": {Verdict: crawl.VerdictDone, Status: 200, CrawlDelay: time.Minute},
	}
	for name, out := range answers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				after := mistaken(t, 1, func(w *world, j *crawl.Job) {
					j.Retry.Base = crawl.Duration(time.Minute)
					if out.CrawlDelay > 0 {
						j.IgnoreRobots = false
						w.answer = func(_ *world, f *crawl.Fetch) reply {
							reply := reply{took: 3 * time.Second, outcome: out}
							if f.Task.Kind == crawl.KindRobots {
								reply.outcome.Robots = &crawl.RobotsOutcome{Expires: time.Now().Add(time.Hour)}
							}
							return reply
						}
						return
					}
					w.answer = func(w *world, _ *crawl.Fetch) reply {
						return reply{took: 3 * time.Second, outcome: out}
					}
				}, func(*world) {})
				if len(after) > 0 {
					t.Errorf("requests after %v: the host asked for a minute", after)
				}
			})
		})
	}
}
