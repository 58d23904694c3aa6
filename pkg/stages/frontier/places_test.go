package frontier_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// steady answers a URL as it did before: one in four is gone, and one in four a page at the second attempt.
func steady(w *world, f *crawl.Fetch) reply {
	r := reply{took: time.Duration(1+w.roll(2000)) * time.Millisecond}
	r.outcome = crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}
	switch k := f.Task.URL.Key(); {
	case k[9]%4 == 0:
		r.outcome = crawl.Outcome{Verdict: crawl.VerdictGone, Status: 404}
	case k[9]%4 == 1 && f.Task.Attempt == 0:
		r.outcome = crawl.Outcome{Verdict: crawl.VerdictRetry, Status: 502}
	}
	return r
}

// A process that dies between a page and its outcome leaves a record that no outcome speaks of. However often that
// happens around the page budget, there is never a record more than the budget, and the budget is spent in the end.
func TestNoRecordMoreThanThePageBudget(t *testing.T) {
	for seed := range uint64(32) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.MaxPages = 40
				w := newWorld(t, seed, job)
				w.sends, w.places, w.told = true, keptPlaces{w.disk}, seed >= 16
				w.answer, w.cfg.Window = steady, 16
				w.begin()
				w.add(pages(t, "a", 20, 8)...)
				for range 2 + seed%6 {
					target := 30 + w.roll(30)
					for began := time.Now(); w.requests() < target && time.Since(began) < time.Minute; {
						time.Sleep(time.Duration(1+w.roll(300)) * time.Millisecond)
					}
					w.crash()
					if n := len(w.disk.records); n > job.MaxPages {
						t.Fatalf("%d records after a crash, the budget is %d", n, job.MaxPages)
					}
					w.begin()
				}
				w.settled()
				if n := w.disk.pages(); n > job.MaxPages || len(w.disk.records) > job.MaxPages {
					t.Errorf("%d pages and %d records, the budget is %d", n, len(w.disk.records), job.MaxPages)
				} else if n < job.MaxPages || !w.f.Exhausted("a") || len(w.disk.kept) > 0 {
					t.Errorf("%d pages, %d records, the budget is %d; exhausted: %v; %d places are kept", n, len(w.disk.records),
						job.MaxPages, w.f.Exhausted("a"), len(w.disk.kept))
				}
				w.stop()
			})
		})
	}
}

// slowPlaces is a store that takes its time to keep a place.
type slowPlaces struct{ keptPlaces }

func (s slowPlaces) KeepPlaces(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	time.Sleep(20 * time.Second)
	return s.keptPlaces.KeepPlaces(ctx, job, keys...)
}

// A page that is taken back while the outcome of its last lease is on its way does not keep its place after that,
// whoever comes to the store first.
func TestNoPlaceIsKeptOfAPageThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.MaxPages = 40
		w := newWorld(t, 1, job)
		w.places = slowPlaces{keptPlaces{w.disk}}
		w.answer = func(*world, *crawl.Fetch) reply {
			return reply{took: 10 * time.Second, outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}}
		}
		w.begin()
		ts := pages(t, "a", 1, 1)
		w.add(ts...)
		time.Sleep(5 * time.Second) // in the middle of the request
		if n := w.f.Stats().InFlight; n != 1 {
			t.Errorf("%d requests are under way, want 1", n)
		}
		if err := w.f.KeepPlaces(t.Context(), ts[0]); err != nil {
			t.Error(err)
		}
		w.settled()
		if len(w.disk.kept) > 0 {
			t.Errorf("%d places are kept of a page that has an outcome", len(w.disk.kept))
		}
		w.stop()
	})
}

// requests is how many were made.
func (w *world) requests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.log)
}

var _ crawl.Places = keptPlaces{}
