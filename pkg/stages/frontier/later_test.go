package frontier_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Over a broker each call takes a round trip, during which no host gets its turn. So tasks that have waited come back a
// batch at a time: each once, none before its time, whatever job it is of, after a crash as well.
func TestWhatHasWaitedComesBackInBatches(t *testing.T) {
	const hosts, each, batch = 60, 10, 64
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprintf("crash: %v", crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, aJob("a"), aJob("b"))
				w.cfg.Batch = batch
				began := time.Now()
				due := map[weburl.Key]time.Time{}
				for i := range hosts * each { // the jobs take turns
					id := []string{"a", "b"}[i%2]
					task := page(t, id, fmt.Sprintf("http://%s%d.test/%d", id, i/2%(hosts/2), i))
					task.NotBefore = began.Add(time.Minute + time.Duration(i/200)*20*time.Second)
					due[task.URL.Key()] = task.NotBefore
					w.disk.store([]crawl.Queued{{Queue: "later.60000", Task: task}})
				}
				w.answer = func(w *world, f *crawl.Fetch) reply {
					if early := time.Until(due[f.Task.URL.Key()]); early > 0 {
						t.Errorf("%s is fetched %s before its time", f.Task.URL, early)
					}
					return fine(w, f)
				}
				w.begin()
				if crash {
					time.Sleep(70 * time.Second)
					w.crash()
					w.begin()
				}
				w.finish()
				w.stop()
				if got := w.verdicts(); got["done "] != hosts*each || len(got) != 1 || w.requests() > hosts*each+w.cfg.Window {
					t.Errorf("%v in %d requests, want %d pages", got, w.requests(), hosts*each)
				}
				// Ten batches, and after a crash those again that were not released yet.
				if n := w.disk.pulls["later.60000"]; n > 2*hosts*each/batch+2 || n == 0 {
					t.Errorf("%d tasks were taken at %d times, in batches of %d", hosts*each, n, batch)
				}
			})
		})
	}
}
