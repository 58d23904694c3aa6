package frontier_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// lose notes that the body of a page was lost.
func (w *world) lose(fetch *crawl.Fetch) *crawl.Outcome {
	out := &crawl.Outcome{Task: fetch.Task, Verdict: crawl.VerdictInterrupted, Reason: crawl.ReasonBodyLost,
		Detail: "lost"}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = append(w.lost, out)
	return out
}

// reportLost is a parser that reports a lost body until the frontier has taken it.
func (w *world) reportLost(ctx context.Context, p *process, f *frontier.Frontier, out *crawl.Outcome) {
	if !w.report(ctx, f, bus.Message{}, out) {
		return
	}
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	if !p.dead {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lost = slices.DeleteFunc(w.lost, func(o *crawl.Outcome) bool { return o == out })
	}
}

func TestAPageWhoseBodyWasLostIsFetchedAgain(t *testing.T) {
	for name, after := range map[string]time.Duration{"reported before the fetch is": 0,
		"just after": 100 * time.Millisecond, "much later": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job := aJob("a")
				job.MaxPages = 2
				w := newWorld(t, 1, job)
				w.answer = func(w *world, f *crawl.Fetch) reply {
					r := fine(w, f)
					r.lost, r.after = f.Task.Attempt == 0, after
					return r
				}
				w.runAll(pages(t, "a", 1, 2)...)
				if len(w.leased) != 4 || w.disk.pages() != 2 || !w.f.Exhausted("a") {
					t.Errorf("%d requests, %d pages, budget spent: %v; want two requests for each of two pages", len(w.leased),
						w.disk.pages(), w.f.Exhausted("a"))
				}
				for key, e := range w.disk.ledger {
					if e.Attempts != 2 || w.disk.finals[key] != 1 {
						t.Errorf("%+v with %d outcomes, want one of the second attempt", e, w.disk.finals[key])
					}
				}
			})
		})
	}
}

// A report that comes twice, or late, must not have a page fetched again that was.
func TestAReportOfALostBodyCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.answer = func(w *world, f *crawl.Fetch) reply {
			r := fine(w, f)
			if r.lost = f.Task.Attempt == 0; r.lost {
				w.lose(f) // another, delivered after a restart
			}
			return r
		}
		w.begin()
		w.add(pages(t, "a", 1, 1)...)
		for w.f.Stats().Leases == 0 || w.f.Stats().Queued+int64(w.f.Stats().InFlight) > 0 {
			time.Sleep(time.Second)
		}
		w.crash()
		w.begin()
		w.finish()
		w.stop()
		if len(w.leased) != 2 {
			t.Errorf("%d requests, want 2", len(w.leased))
		}
	})
}

// After a restart the report may come before the outcome of the fetch, which would end the story anew.
func TestAReportOfALostBodyWaitsForTheOutcomeOfTheFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, aJob("a"))
		w.begin()
		task := page(t, "a", "http://h0.test/")
		task.Lease = 7 // of the process before
		out := w.lose(&crawl.Fetch{Task: task})
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.reportLost(context.Background(), w.proc, w.f, out)
		}()
		time.Sleep(50 * time.Millisecond)
		w.report(context.Background(), w.f, bus.Message{},
			&crawl.Outcome{Task: task, Verdict: crawl.VerdictDone, Status: 200})
		<-done
		w.finish()
		w.stop()
		e := w.disk.ledger[task.URL.Key()]
		if len(w.leased) != 1 || e.State != crawl.StateDone || e.Attempts != 2 || w.disk.finals[task.URL.Key()] != 1 {
			t.Errorf("%d requests, %+v; want the page to be fetched again", len(w.leased), e)
		}
	})
}

// Where programs do not share a spool every body is lost.
func TestAPageWhoseBodyIsAlwaysLostIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := aJob("a")
		job.Retry.Max = 2
		w := newWorld(t, 1, job)
		w.answer = func(w *world, f *crawl.Fetch) reply {
			r := fine(w, f)
			r.lost = true
			return r
		}
		w.runAll(pages(t, "a", 1, 1)...)
		if len(w.leased) != 6 { // the first, two retries and three more
			t.Errorf("%d requests, want 6", len(w.leased))
		}
		for _, e := range w.disk.ledger {
			if e.State != crawl.StateDone || e.Verdict != crawl.VerdictFailed || e.Reason != crawl.ReasonBodyLost {
				t.Errorf("%+v, want a failure", e)
			}
		}
		if w.disk.pages() != 0 {
			t.Errorf("%d pages, want none", w.disk.pages())
		}
	})
}

// Over crashes and failing stores, with reports before and after the outcomes of the fetches: a page that counts was
// parsed.
func TestNoPageIsLostWithItsBody(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				parsed, lost := map[weburl.Key]bool{}, 0
				w := storm(t, seed, func(w *world) {
					w.answer = func(w *world, f *crawl.Fetch) reply {
						r := capricious(w, f)
						if f.Task.Kind != crawl.KindPage || r.outcome.Status != 200 {
							return r
						}
						r.lost, r.after = w.roll(4) == 0, time.Duration(w.roll(8))*time.Second
						w.mu.Lock()
						defer w.mu.Unlock()
						if r.lost {
							lost++
						} else {
							parsed[f.Task.URL.Key()] = true
						}
						return r
					}
				})
				for _, c := range impolite(w.log, 500*time.Millisecond) {
					t.Error(c)
				}
				for key, e := range w.disk.ledger {
					if e.State != crawl.StateDone || w.disk.finals[key] != 1 || e.Verdict == crawl.VerdictDone && !parsed[key] {
						t.Errorf("%+v with %d outcomes; parsed: %v", e, w.disk.finals[key], parsed[key])
					}
				}
				if n := w.reasons()[crawl.ReasonBodyLost]; lost < 20 || n > lost/4 {
					t.Errorf("%d bodies were lost, and %d pages given up for it", lost, n)
				}
				if s := w.f.Stats(); s.Queued != 0 || s.InFlight != 0 {
					t.Errorf("counters drifted: %+v", s)
				}
			})
		})
	}
}
