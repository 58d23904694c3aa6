package frontier_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// purge takes away what waits in the queues whose names begin so, but for what was pulled, and returns how many tasks
// that were.
func (d *disk) purge(prefix string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, q := range d.queues {
		if strings.HasPrefix(name, prefix) {
			d.queues[name] = slices.DeleteFunc(q, func(s *stored) bool { return !s.pulled })
			n += len(q) - len(d.queues[name])
		}
	}
	return n
}

// idle waits until the frontier has nothing left to do.
func (w *world) idle() {
	w.t.Helper()
	for began := time.Now(); !w.f.Idle(); time.Sleep(time.Second) {
		if time.Since(began) > 24*time.Hour {
			w.t.Fatalf("not idle after a day: %+v", w.f.Stats())
		}
	}
}

// Somebody purges queues while they are full: the frontier goes on with what is left, says so, and is idle when that is
// done. What was lost is queued again then, with all the rest, as the ledger gives it, and each page is fetched once.
func TestQueuesThatArePurgedStopNothing(t *testing.T) {
	for _, prefix := range []string{"front.", "back.", "later.", ""} {
		t.Run(prefix, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				w := newWorld(t, 1, job)
				w.answer = stumbling
				w.cfg.Window, w.cfg.MaxHeld, w.cfg.MaxActive = 4, 8, 4
				w.begin()
				all := pages(t, "a", 8, 40)
				w.add(all...)
				lost := 0
				for range 3 {
					time.Sleep(20 * time.Second)
					lost += w.disk.purge(prefix)
				}
				w.idle()
				if s := w.f.Stats(); lost > 0 && (s.Queued != 0 || w.outcomes() == len(all)) {
					t.Errorf("%d tasks were lost, %d of %d have outcomes, %d are counted as queued", lost, w.outcomes(), len(all),
						s.Queued)
				}
				if err := w.f.Queue(context.Background(), all...); err != nil {
					t.Fatal(err)
				}
				w.finish()
				w.stop()
				if got := w.outcomes(); got != len(all) || len(w.late) > 0 {
					t.Errorf("%d outcomes, want %d; leased after they were done: %q", got, len(all), w.late)
				}
				if lost == 0 && prefix != "later." {
					t.Error("nothing was lost: the test shows nothing")
				}
			})
		})
	}
}

// A frontier that starts over queues that were purged since their lengths were told begins all the same.
func TestAFrontierStartsOverQueuesThatArePurged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		w := newWorld(t, 1, job)
		w.begin()
		w.add(pages(t, "a", 4, 400)...)
		time.Sleep(10 * time.Second)
		w.crash()
		w.disk.purge("")
		w.disk.mu.Lock()
		w.disk.phantom = map[string]int64{"back.1": 30, "front.3": 12, "later.2000": 5}
		w.disk.mu.Unlock()
		w.begin()
		w.idle()
		w.stop()
		if s := w.f.Stats(); s.Queued != 0 {
			t.Errorf("%d tasks are counted that are nowhere", s.Queued)
		}
	})
}

// A lease whose message was deleted ends when no fetch can take as long; its host has waited its delay by then and
// waits it once more, and a lease whose fetch still runs is left alone. A URL whose lease is always lost fails.
func TestLeasesWhoseMessagesAreDeletedEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.Limits.Total, job.Retry.Max = crawl.Duration(time.Minute), 2
		w := newWorld(t, 1, job)
		dropped := map[string]int{}
		w.drop = func(f *crawl.Fetch) bool {
			u := f.Task.URL.String()
			w.mu.Lock()
			defer w.mu.Unlock()
			if dropped[u]++; u == "http://h0.test/0" && dropped[u] < 3 {
				return true
			}
			return u == "http://h1.test/0"
		}
		w.begin()
		w.add(pages(t, "a", 3, 2)...)
		ends := 0
		for began := time.Now(); !w.f.Idle() && time.Since(began) < time.Hour; time.Sleep(2 * time.Second) {
			if !w.f.Overdue() {
				continue
			}
			if early := time.Since(began); early < 70*time.Second {
				t.Errorf("a lease is overdue after %v", early)
			}
			n, err := w.f.EndOverdue(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			ends += n
		}
		w.stop()
		if got := w.outcomes(); got != 6 {
			t.Errorf("%d outcomes, want 6", got)
		}
		if ends < 4 || dropped["http://h0.test/0"] != 3 || dropped["http://h1.test/0"] != 2+3+1 {
			t.Errorf("%d leases ended, leased were %v", ends, dropped)
		}
		for _, e := range w.disk.ledger {
			if failed := e.Verdict == crawl.VerdictFailed; failed != (e.Reason == crawl.ReasonLeaseLost) ||
				failed && e.Attempts != 6 {
				t.Errorf("outcome %+v", e)
			}
		}
	})
}

// Tasks that lie there for hours, of URLs that have their outcomes for the time being, keep nobody from seeing that
// others were lost.
func TestAFrontierIsIdleBesideURLsThatHaveAnOutcomeForTheTimeBeing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.answer = func(*world, *crawl.Fetch) reply {
			return reply{unasked: true, outcome: crawl.Outcome{Verdict: crawl.VerdictBlocked, Reason: crawl.ReasonRobotsDown}}
		}
		w.begin()
		w.add(pages(t, "a", 2, 2)...)
		began := time.Now()
		w.idle()
		if s := w.f.Stats(); time.Since(began) > time.Minute || s.Queued != 4 {
			t.Errorf("idle after %v with %d tasks, want 4 that wait", time.Since(began), s.Queued)
		}
		w.stop()
	})
}
