package frontier_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A broker that is lost in the middle of a push may hold tasks twice, and such as were said to have failed. They are
// counted nowhere, and must not hide those that are: all queues are empty in the end, without a restart.
func TestTasksThatNobodyCountedHideNoOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := aJob("a")
				a.Retry.Max = 20
				w := newWorld(t, seed, a)
				w.unsure = 0.2
				w.cfg.Window, w.cfg.MaxActive, w.cfg.MaxHeld, w.cfg.Batch = 4, 6, 10, 8
				w.answer = func(w *world, f *crawl.Fetch) reply {
					if f.Task.Attempt < 3 && w.roll(4) == 0 {
						return reply{took: time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonConnect}}
					}
					return fine(w, f)
				}
				w.begin()
				for _, task := range pages(t, "a", 9, 20) {
					task.Priority = w.roll(3)
					w.add(task)
					time.Sleep(time.Duration(w.roll(1000)) * time.Millisecond)
				}
				time.Sleep(24 * time.Hour)
				w.stop()
				left := 0
				w.disk.writeSettled()
				for name, q := range w.disk.queues {
					if left += len(q); len(q) > 0 {
						t.Logf("%s holds %d tasks", name, len(q))
					}
				}
				done := 0
				for _, e := range w.disk.ledger {
					if e.State == crawl.StateDone {
						done++
					}
				}
				if done != 9*20 || left > 0 {
					t.Errorf("%d URLs are done, want %d; %d tasks lie in queues; %+v", done, 9*20, left, w.f.Stats())
				}
			})
		})
	}
}
