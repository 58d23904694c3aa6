package frontier_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// runAll runs a world until it is done and returns how long that took.
func (w *world) runAll(tasks ...crawl.Task) time.Duration {
	w.t.Helper()
	began := time.Now()
	w.begin()
	w.add(tasks...)
	w.finish()
	w.stop()
	return time.Since(began)
}

func (w *world) reasons() map[string]int {
	out := map[string]int{}
	for _, e := range w.disk.ledger {
		out[e.Reason]++
	}
	return out
}

func TestHigherPrioritiesComeMoreOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.cfg.Window, w.cfg.Batch, w.cfg.MaxActive = 4, 1, 12
		tasks := pages(t, "a", 2000, 1)
		for i := range tasks {
			tasks[i].Priority = 1 + i%5
		}
		w.runAll(tasks...)
		prio := map[weburl.URL]int{}
		for _, task := range tasks {
			prio[task.URL] = task.Priority
		}
		var first [6]int
		for _, u := range w.leased[:600] {
			first[prio[u]]++
		}
		for p := 3; p <= 5; p++ { // neighbours may come out even by chance
			if first[p] <= first[p-2] {
				t.Errorf("of the first 600 leases, by priority: %v; want more of the higher", first[1:])
			}
		}
		if first[1] == 0 {
			t.Errorf("of the first 600 leases, by priority: %v; the lowest starves", first[1:])
		}
	})
}

func TestAHostHasAsManyConnectionsAsItsJobSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.Politeness.HostConnections, job.Politeness.Delay, job.IgnoreRobots = 3, 0, false
		w := newWorld(t, 1, job)
		w.answer = func(w *world, f *crawl.Fetch) reply {
			if f.Task.Kind == crawl.KindRobots { // http redirects to https, whose rules are asked for too
				return robotsReply(t, f, "https://h0.test/robots.txt", 0)
			}
			return reply{took: time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}}
		}
		tasks := pages(t, "a", 1, 60)
		for i := range 60 {
			tasks = append(tasks, page(t, "a", fmt.Sprintf("https://h0.test/s%d", i)))
		}
		w.runAll(tasks...)
		if most := atOnce(w.log); most != 3 {
			t.Errorf("%d requests at once, want 3", most)
		}
		if s := w.f.Stats(); s.ActiveHosts != 0 {
			t.Errorf("counters drifted: %+v", s)
		}
	})
}

// atOnce is the largest number of requests that were under way together.
func atOnce(log []request) (most int) {
	for i := range log {
		n := 0
		for _, r := range log {
			if !r.start.After(log[i].start) && r.end.After(log[i].start) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// robotsReply is the answer to a request for robots.txt: a redirect unless it was for target, and then rules.
func robotsReply(t *testing.T, f *crawl.Fetch, target string, delay time.Duration) reply {
	t.Helper()
	r := &crawl.RobotsOutcome{Origin: f.Task.For, Expires: time.Now().Add(24 * time.Hour), CrawlDelay: delay}
	if f.Task.URL.String() != target {
		var err error
		if r.Redirect, err = weburl.Parse(target); err != nil {
			t.Error(err)
		}
	}
	return reply{took: time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200, Robots: r}}
}

func TestRobotsComeFirstAndFromOtherHostsToo(t *testing.T) {
	for _, target := range []string{"http://h0.test/robots.txt", "http://h0.test/elsewhere", "http://h1.test/robots.txt"} {
		t.Run(target, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.IgnoreRobots = false
				w := newWorld(t, 1, job)
				asked := map[string]int{}
				w.answer = func(w *world, f *crawl.Fetch) reply {
					w.mu.Lock()
					defer w.mu.Unlock()
					if f.Task.Kind == crawl.KindRobots {
						asked[f.Task.URL.String()]++
						return robotsReply(t, f, target, 0)
					}
					if len(asked) == 0 {
						t.Errorf("%s came before robots.txt", f.Task.URL)
					}
					return reply{took: time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}}
				}
				took := w.runAll(pages(t, "a", 1, 20)...)
				if asked[target] != 1 || asked["http://h0.test/robots.txt"] != 1 {
					t.Errorf("asked for %v, want each once", asked)
				}
				if took > 3*time.Minute {
					t.Errorf("took %v: the host waited for somebody", took)
				}
			})
		})
	}
}

// The job whose agent is asked for patience is not the one that fetched robots.txt.
func TestTheCrawlDelayOfAnotherAgentIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.IgnoreRobots = false
		w := newWorld(t, 1, job)
		w.answer = func(_ *world, f *crawl.Fetch) reply {
			if f.Task.Kind == crawl.KindRobots {
				return robotsReply(t, f, "http://h0.test/robots.txt", 0)
			}
			return reply{took: time.Second,
				outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200, CrawlDelay: time.Minute}}
		}
		w.runAll(pages(t, "a", 1, 5)...)
		for i := 2; i < len(w.log); i++ {
			if gap := w.log[i].start.Sub(w.log[i-1].end); gap < time.Minute {
				t.Errorf("request %d came %v after the one before, want a minute", i, gap)
			}
		}
	})
}

func TestAHostThatAsksForTooMuchPatienceIsParkedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.IgnoreRobots = false
		w := newWorld(t, 1, job)
		w.answer = func(_ *world, f *crawl.Fetch) reply {
			return robotsReply(t, f, "http://h0.test/robots.txt", 24*time.Hour)
		}
		took := w.runAll(pages(t, "a", 1, 300)...)
		if got := w.reasons()[crawl.ReasonCrawlDelay]; got != 300 || took > time.Minute {
			t.Errorf("%d URLs ended as %s after %v, want 300 within a minute", got, crawl.ReasonCrawlDelay, took)
		}
		if len(w.log) != 1 {
			t.Errorf("%d requests, want the one for robots.txt", len(w.log))
		}
	})
}

func TestAHostThatIsDownIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.answer = func(*world, *crawl.Fetch) reply {
			return reply{took: time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonConnect}}
		}
		took := w.runAll(pages(t, "a", 1, 500)...)
		if len(w.log) > 20 || took > time.Hour {
			t.Errorf("%d requests in %v to a host that never answers", len(w.log), took)
		}
		if got := w.reasons()[crawl.ReasonHostDown]; got < 480 {
			t.Errorf("%d URLs ended as %s, want nearly all of 500", got, crawl.ReasonHostDown)
		}
	})
}

// The fetcher finds the rules expired that were good when the page was leased.
func TestRulesThatRanOutAreFetchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.IgnoreRobots = false
		w := newWorld(t, 1, job)
		robots, refused := 0, false
		w.answer = func(_ *world, f *crawl.Fetch) reply {
			switch {
			case f.Task.Kind == crawl.KindRobots:
				robots++
				return robotsReply(t, f, "http://h0.test/robots.txt", 0)
			case !refused:
				refused = true
				return reply{unasked: true, outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonRobots}}
			}
			return fine(w, f)
		}
		w.runAll(pages(t, "a", 1, 3)...)
		if robots != 2 || w.disk.pages() != 3 {
			t.Errorf("robots.txt was fetched %d times and %d pages, want 2 and 3", robots, w.disk.pages())
		}
		if f := w.disk.hosts["h0.test"].Failures; f != 0 {
			t.Errorf("the host counts %d failures, want none: it was not asked", f)
		}
	})
}

func TestWhatIsQueuedTwiceIsFetchedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		tasks := pages(t, "a", 3, 10)
		again := pages(t, "a", 3, 10)
		for i := range again {
			again[i].Repeat = true
		}
		w.runAll(append(tasks, again...)...)
		if len(w.log) != 30 || len(w.late) > 0 {
			t.Errorf("%d requests, want 30; late: %q", len(w.log), w.late)
		}
	})
}

func TestAPausedFrontierLeasesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.begin()
		if !w.f.Pause(true) || w.f.Pause(true) {
			t.Error("Pause does not say what changed")
		}
		w.add(pages(t, "a", 10, 10)...)
		time.Sleep(time.Hour)
		if len(w.leased) > 0 {
			t.Errorf("%d leases while paused", len(w.leased))
		}
		w.f.Pause(false)
		w.finish()
		w.stop()
		if w.outcomes() != 100 {
			t.Errorf("%d outcomes, want 100", w.outcomes())
		}
	})
}

// otherPages are pages of the same hosts under other URLs.
func otherPages(t *testing.T, job string, hosts, n int) []crawl.Task {
	t.Helper()
	tasks := pages(t, job, hosts, n)
	for i := range tasks {
		tasks[i] = page(t, job, tasks[i].URL.String()+"/other")
	}
	return tasks
}

func TestAHeldJobWaitsWhileOthersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"), aJob("b"))
		w.begin()
		if !w.f.Hold("a", true) || w.f.Hold("a", true) {
			t.Error("Hold does not say what changed")
		}
		w.add(pages(t, "a", 10, 10)...)
		w.add(otherPages(t, "b", 10, 10)...)
		time.Sleep(time.Hour)
		if n := w.outcomes(); n != 100 {
			t.Errorf("%d outcomes while one of two jobs is held, want 100", n)
		}
		w.f.Hold("a", false)
		w.finish()
		w.stop()
		if n := w.outcomes(); n != 200 {
			t.Errorf("%d outcomes, want 200", n)
		}
	})
}

// Tasks of a job that nobody knows must neither stop the others nor be lost.
func TestTasksOfAnUnknownJobAreSetAsideAndKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"), aJob("b"))
		w.begin()
		w.f.Pause(true)
		w.add(pages(t, "a", 1, 600)...)
		w.add(otherPages(t, "b", 3, 20)...)
		w.crash()
		gone := w.jobs["a"]
		delete(w.jobs, "a")
		w.begin()
		time.Sleep(time.Hour)
		if n := w.outcomes(); n != 60 {
			t.Errorf("%d outcomes of the job that is known, want 60", n)
		}
		w.crash()
		w.jobs["a"] = gone
		w.begin()
		w.finish()
		w.stop()
		if n := w.outcomes(); n != 660 {
			t.Errorf("%d outcomes, want 660", n)
		}
	})
}

// Where robots.txt lies at another host that fails, the attempts of both come to an end, as at one host.
func TestRobotsOfAnotherHostThatFailsAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.IgnoreRobots, job.Retry.Max = false, 3
		w := newWorld(t, 1, job)
		asked := map[string]int{}
		w.answer = func(w *world, f *crawl.Fetch) reply {
			w.mu.Lock()
			defer w.mu.Unlock()
			asked[f.Task.URL.HostKey()]++
			switch {
			case f.Task.Kind != crawl.KindRobots:
				return reply{unasked: true, outcome: crawl.Outcome{Verdict: crawl.VerdictBlocked, Reason: crawl.ReasonRobotsDown}}
			case f.Task.URL.HostKey() == "h0.test":
				return robotsReply(t, f, "http://h1.test/robots.txt", 0)
			case f.Task.Attempt < job.Retry.Max:
				return reply{outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Status: 500, Reason: crawl.ReasonStatus}}
			}
			rules := &crawl.RobotsOutcome{Origin: f.Task.For, Expires: time.Now().Add(time.Hour)} // as the fetcher does
			return reply{outcome: crawl.Outcome{Verdict: crawl.VerdictFailed, Status: 500, Reason: crawl.ReasonStatus,
				Robots: rules}}
		}
		w.runAll(pages(t, "a", 1, 3)...)
		if n := job.Retry.Max + 1; asked["h1.test"] != n || asked["h0.test"] != n+3 {
			t.Errorf("asked %v; want %d requests to h1.test, and as many to h0.test and its pages", asked, n)
		}
	})
}
