package frontier_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// network answers as a fetcher does over a network that may be down for hosts: with a robots.txt for every origin,
// pages, and, where robots.txt was asked for as often as the job allows, without pages for an hour.
type network struct {
	w     *world
	down  func(host string) bool
	shut  map[string]time.Time // origins whose robots.txt could not be had, until when
	asked map[string]int       // requests by host
}

func onNetwork(w *world, down func(host string) bool) *network {
	n := &network{w: w, down: down, shut: map[string]time.Time{}, asked: map[string]int{}}
	w.answer = func(w *world, f *crawl.Fetch) reply {
		w.mu.Lock()
		defer w.mu.Unlock()
		return n.answer(f)
	}
	return n
}

func (n *network) answer(f *crawl.Fetch) reply {
	t, now := &f.Task, time.Now()
	origin := t.URL.Origin()
	if t.Kind == crawl.KindPage && n.shut[origin].After(now) {
		return reply{unasked: true, outcome: crawl.Outcome{Verdict: crawl.VerdictBlocked, Reason: crawl.ReasonRobotsDown}}
	}
	n.asked[t.URL.HostKey()]++
	r := reply{took: 50 * time.Millisecond}
	o := &r.outcome
	if n.down(t.URL.HostKey()) {
		o.Verdict, o.Reason = crawl.VerdictRetry, crawl.ReasonConnect
		if t.Kind == crawl.KindRobots && t.Attempt >= n.w.jobs[t.Job].Retry.Max {
			n.shut[origin] = now.Add(time.Hour)
			o.Verdict, o.Robots = crawl.VerdictFailed, &crawl.RobotsOutcome{Origin: origin, Expires: n.shut[origin]}
		}
		return r
	}
	o.Verdict, o.Status = crawl.VerdictDone, 200
	if t.Kind == crawl.KindRobots {
		delete(n.shut, origin)
		o.Robots = &crawl.RobotsOutcome{Origin: origin, Expires: now.Add(24 * time.Hour)}
	}
	return r
}

func askingRobots(id string) *crawl.Job {
	j := aJob(id)
	j.IgnoreRobots = false
	return j
}

// verdicts counts what became of the URLs.
func (w *world) verdicts() map[string]int {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	out := map[string]int{}
	for _, e := range w.disk.ledger {
		out[e.Verdict.String()+" "+e.Reason]++
	}
	return out
}

// An outage of our own costs no site anything, at the start and in mid-crawl, and the crawl waits meanwhile.
func TestAnOutageOfOurOwnCostsNoPage(t *testing.T) {
	for _, from := range []time.Duration{0, 20 * time.Second} {
		for _, lasts := range []time.Duration{97 * time.Second, 8 * time.Minute} {
			t.Run(fmt.Sprintf("from %v for %v", from, lasts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, 1, askingRobots("a"))
					began := time.Now()
					requests := 0
					onNetwork(w, func(string) bool {
						since := time.Since(began)
						down := since >= from && since < from+lasts
						if down {
							requests++
						}
						return down
					})
					w.begin()
					w.add(pages(t, "a", 16, 60)...)
					w.finish()
					took := time.Since(began)
					w.stop()
					if got := w.verdicts()["done "]; got != 16*60 {
						t.Errorf("%d of %d pages: %v", got, 16*60, w.verdicts())
					}
					if took > lasts+2*time.Minute {
						t.Errorf("it took %v", took)
					}
					if most := 64 + int(lasts/time.Second); requests > most {
						t.Errorf("%d requests while nobody could be reached, want %d at most", requests, most)
					}
				})
			})
		}
	}
}

// Hosts that are dead while others answer, or answered, have their failures counted as ever: they keep no crawl from
// its end.
func TestDeadHostsAreNoTroubleOfOurs(t *testing.T) {
	for name, tc := range map[string]struct {
		good   int
		within time.Duration
	}{
		"beside one that answers": {1, 10 * time.Minute},
		"alone":                   {0, 20 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, askingRobots("a"))
				n := onNetwork(w, func(host string) bool { return host >= "h2" })
				var tasks []crawl.Task
				for _, task := range pages(t, "a", 8, 5) {
					if h := task.URL.HostKey(); h >= "h2" || h < fmt.Sprint("h", tc.good) {
						tasks = append(tasks, task)
					}
				}
				took := w.runAll(tasks...)
				want := 30
				if got := w.verdicts()["blocked robots-unavailable"]; got != want || took > tc.within {
					t.Errorf("%d URLs are blocked, want %d; it took %v: %v", got, want, took, w.verdicts())
				}
				if n.asked["h0.test"] > 8 {
					t.Errorf("the host that answers was asked %d times", n.asked["h0.test"])
				}
			})
		})
	}
}

// What was shut for an hour is asked again then, by a crawl that still runs and by the same command later.
func TestARobotsFileThatCouldNotBeHadIsAskedForAgain(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("by another process: %v", again), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, askingRobots("a"))
				began := time.Now()
				onNetwork(w, func(string) bool { return time.Since(began) < 30*time.Minute })
				w.begin()
				w.add(pages(t, "a", 1, 20)...)
				w.finish()
				if s := w.f.Stats(); s.Shut != 20 || w.verdicts()["blocked robots-unavailable"] != 20 {
					t.Fatalf("%+v, %v; want 20 URLs that wait", s, w.verdicts())
				}
				if again {
					w.crash()
					time.Sleep(3 * time.Hour)
					w.begin()
				} else {
					time.Sleep(time.Until(w.f.Stats().ShutUntil) + time.Second)
				}
				time.Sleep(time.Second)
				w.finish()
				w.stop()
				if got := w.verdicts(); got["done "] != 20 || len(got) != 1 {
					t.Errorf("in the end: %v, want 20 pages", got)
				}
			})
		})
	}
}

// A revision may reach what the one before did not, such as a host without a valid certificate: what is shut does not
// wait for its hour then. Where nothing else is known of the host, it is not asked for that.
func TestARevisionTriesShutURLsAgain(t *testing.T) {
	for _, again := range []bool{false, true} {
		for _, helps := range []bool{false, true} {
			t.Run(fmt.Sprintf("by another process: %v, it helps: %v", again, helps), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began, insecure, count := time.Now(), false, 20
					if again {
						count = 1 // so that the host leaves the memory
					}
					var n *network
					w, r := running(t, pages(t, "a", 1, count), func(w *world, job *crawl.Job) {
						job.IgnoreRobots = false
						if again {
							job.Politeness.Delay, job.Politeness.IPDelay = 0, 0 // then the host's record is stored seldom
						}
						n = onNetwork(w, func(string) bool { return !insecure })
						w.answer = func(w *world, f *crawl.Fetch) reply {
							w.mu.Lock()
							defer w.mu.Unlock()
							if f.Task.Kind == crawl.KindPage && insecure && !n.shut[f.Task.URL.Origin()].IsZero() {
								return reply{unasked: true,
									outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonRobots}}
							}
							return n.answer(f)
						}
					})
					w.finish()
					if s := w.f.Stats(); s.Shut != int64(count) || w.verdicts()["blocked robots-unavailable"] != count {
						t.Fatalf("%+v, %v; want %d URLs that wait", s, w.verdicts(), count)
					}
					w.mu.Lock()
					insecure = helps
					asked := n.asked["h0.test"]
					w.mu.Unlock()
					if next := r.revise(func(j *crawl.Job) { j.Network.Insecure = true }); again {
						w.crash()
						w.begin()
					} else {
						w.f.SetJob(next)
					}
					time.Sleep(time.Second)
					w.finish()
					w.stop()
					want, took := "done ", time.Since(began)
					if !helps {
						want = "blocked robots-unavailable"
						if more := n.asked["h0.test"] - asked; more > 0 {
							t.Errorf("%d requests though nothing may be fetched", more)
						}
					}
					if got := w.verdicts(); got[want] != count || len(got) != 1 || took > 30*time.Minute {
						t.Errorf("after %v: %v, want %d times %q", took, got, count, want)
					}
				})
			})
		}
	}
}

// A process that can open no more files fails no URL and slows down.
func TestTooManyOpenFilesFailNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, askingRobots("a"))
		onNetwork(w, func(string) bool { return false })
		began, answer := time.Now(), w.answer
		refused := 0
		w.answer = func(w *world, f *crawl.Fetch) reply {
			if time.Since(began) < 5*time.Minute && f.Task.URL.HostKey() < "h5" {
				w.mu.Lock()
				refused++
				w.mu.Unlock()
				return reply{unasked: true, outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonOpenFiles}}
			}
			return answer(w, f)
		}
		w.runAll(pages(t, "a", 10, 20)...)
		if got := w.verdicts(); got["done "] != 200 || refused == 0 || refused > 600 {
			t.Errorf("%v, %d attempts without a file: want 200 pages", got, refused)
		}
	})
}
