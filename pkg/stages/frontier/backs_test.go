package frontier_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A queue costs a broker a tenth of a megabyte and two files, so hosts may have only so many. Those that get none are
// crawled all the same; what waits for a place comes some minutes later.
func TestFewBackQueuesAreEnough(t *testing.T) {
	crawlWith := func(most int) (queues int, took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			job := aJob("a")
			job.Politeness.Delay = crawl.Duration(2 * time.Second)
			w := newWorld(t, 1, job)
			w.cfg.Window, w.cfg.MaxActive, w.cfg.MaxHeld, w.cfg.MaxBack, w.cfg.Batch = 64, 100, 60, most, 32
			began := time.Now()
			w.begin()
			w.add(pages(t, "a", 40, 30)...)
			for ; !w.drained(); time.Sleep(time.Second) {
				queues = max(queues, w.disk.backQueues())
				w.checkBounds()
				if time.Since(began) > time.Hour {
					t.Fatalf("it hangs: %+v", w.f.Stats())
				}
			}
			took = time.Since(began)
			w.stop()
			if n := len(w.log); n != 40*30 {
				t.Errorf("%d requests, want %d", n, 40*30)
			}
		})
		return queues, took
	}
	free, fast := crawlWith(0)
	if free < 20 {
		t.Errorf("%d back queues were used without a bound: this crawl shows nothing", free)
	}
	few, took := crawlWith(5)
	t.Logf("%d back queues: %v; %d: %v", free, fast, few, took)
	if few > 5 || few < 4 {
		t.Errorf("%d back queues were used, want up to 5", few)
	}
	if took > 2*fast+2*time.Minute {
		t.Errorf("the crawl took %v with a bound, %v without", took, fast)
	}
}
