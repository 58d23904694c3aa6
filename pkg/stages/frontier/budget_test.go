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
