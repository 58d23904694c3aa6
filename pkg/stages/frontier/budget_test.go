package frontier_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// settled waits until nothing is under way and, after that, nothing was leased for a minute.
func (w *world) settled() {
	w.t.Helper()
	for quiet, last := 0, -1; quiet < 60; time.Sleep(time.Second) {
		w.mu.Lock()
		n := len(w.leased)
		w.mu.Unlock()
		if quiet++; n != last || w.f.Stats().InFlight > 0 {
			quiet = 0
		}
		last = n
	}
}

// stumbling answers with a page most of the time.
func stumbling(w *world, _ *crawl.Fetch) reply {
	r := reply{took: time.Duration(1+w.roll(2000)) * time.Millisecond}
	switch w.roll(4) {
	case 0:
		r.outcome = crawl.Outcome{Verdict: crawl.VerdictGone, Status: 404}
	case 1:
		r.outcome = crawl.Outcome{Verdict: crawl.VerdictRetry, Status: 502}
	default:
		r.outcome = crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}
	}
	return r
}

func TestThePageBudgetIsSpentExactly(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.MaxPages = 40
				w := newWorld(t, seed, job)
				w.answer, w.cfg.Window = stumbling, 16
				w.begin()
				w.add(pages(t, "a", 30, 5)...)
				for range seed % 4 {
					time.Sleep(time.Duration(1+w.roll(5000)) * time.Millisecond)
					w.crash()
					w.begin()
				}
				w.settled()
				w.stop()
				if n := w.disk.pages(); n != 40 || !w.f.Exhausted("a") {
					t.Errorf("%d pages, want 40; exhausted: %v", n, w.f.Exhausted("a"))
				}
				if s := w.f.Stats(); s.Queued == 0 {
					t.Error("nothing is left: the test shows nothing")
				}
			})
		})
	}
}

// A bus may bring an outcome several times at once: its lease ends once, and its page is counted once.
func TestCopiesOfAnOutcomeThatComeAtOnceCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.MaxPages = 60
		w := newWorld(t, 1, job)
		w.copies = 8
		w.runAll(pages(t, "a", 3, 20)...)
		if n := w.disk.pages(); n != 60 || len(w.leased) != 60 || !w.f.Exhausted("a") {
			t.Errorf("%d requests, %d pages, budget spent: %v; want 60 of each", len(w.leased), n, w.f.Exhausted("a"))
		}
	})
}

// A job that has spent its budget must not keep other jobs' tasks from its hosts.
func TestASpentJobMakesRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spent, other := aJob("spent"), aJob("other")
		spent.MaxPages = 1
		w := newWorld(t, 1, spent, other)
		w.cfg.MaxActive, w.cfg.MaxHeld = 4, 10
		w.begin()
		w.add(pages(t, "spent", 8, 30)...)
		time.Sleep(time.Minute)
		for i := range 8 {
			w.add(page(t, "other", fmt.Sprintf("http://h%d.test/other", i)))
		}
		w.settled()
		if got := w.outcomes(); got != 9 {
			t.Errorf("%d outcomes, want the one page and the other job's 8", got)
		}
		if s := w.f.Stats(); s.Queued != 8*30-1 {
			t.Errorf("%d tasks are queued, want those of the spent job: %d", s.Queued, 8*30-1)
		}
		w.crash()
		spent.MaxPages = 0 // asked for more
		w.begin()
		w.finish()
		w.stop()
		if got := w.outcomes(); got != 8*31 {
			t.Errorf("%d outcomes, want all %d", got, 8*31)
		}
	})
}

func (w *world) outcomes() (n int) {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	for _, e := range w.disk.ledger {
		if e.State == crawl.StateDone {
			n++
		}
	}
	return n
}

// A program that was killed may have its last outcome stored when the next one has counted the pages already. The
// next one counts again before it leases, so that it does not exceed the budget by that page.
func TestWhatAPredecessorStoresLateIsCounted(t *testing.T) {
	for _, recounts := range []bool{true, false} { // false is the control
		synctest.Test(t, func(t *testing.T) {
			job := aJob("a")
			job.MaxPages = 10
			w := newWorld(t, 1, job)
			w.answer = alwaysPages
			w.begin()
			ts := pages(t, "a", 9, 5)
			w.add(ts[:len(ts)-1]...)
			time.Sleep(100 * time.Millisecond) // the job is met, and its first requests are made
			w.f.Hold("a", true)
			w.settled()
			w.disk.mu.Lock()
			late := ts[len(ts)-1].URL.Key()
			w.disk.ledger[late] = crawl.Entry{Key: late, State: crawl.StateDone, Kind: crawl.KindPage,
				Verdict: crawl.VerdictDone, Status: 200}
			w.disk.mu.Unlock()
			if recounts {
				if err := w.f.Recount(t.Context()); err != nil {
					t.Error(err)
				}
			}
			w.f.Hold("a", false)
			w.settled()
			if n := w.disk.pages(); (n == 10) != recounts {
				t.Errorf("counted again: %v: %d pages, the budget is 10", recounts, n)
			}
			w.stop()
		})
	}
}

func alwaysPages(w *world, _ *crawl.Fetch) reply {
	return reply{took: time.Duration(1+w.roll(2000)) * time.Millisecond,
		outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}}
}

// A number of pages that is old when the frontier is told it does not let the budget be exceeded.
func TestAnOldNumberOfPagesIsNeverTooSmall(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			job := aJob("a")
			job.MaxPages = 40
			w := newWorld(t, seed, job)
			w.answer, w.cfg.Window = alwaysPages, 16
			w.begin()
			w.add(pages(t, "a", 30, 5)...)
			for range 20 {
				counted := w.f.Counting("a")
				w.disk.mu.Lock()
				n := w.disk.pages()
				w.disk.mu.Unlock()
				time.Sleep(time.Duration(1+w.roll(2000)) * time.Millisecond)
				counted(int64(n))
			}
			w.settled()
			if err := w.f.Recount(t.Context()); err != nil {
				t.Error(err)
			}
			w.settled()
			if n := w.disk.pages(); n != 40 || !w.f.Exhausted("a") {
				t.Errorf("%d pages, want 40; exhausted: %v", n, w.f.Exhausted("a"))
			}
			w.stop()
		})
	}
}
