package frontier_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A fetcher remembers for a second that the name server failed. Attempts that come meanwhile ask nobody, so a job whose
// retries follow each other closely must not spend them all on one failure: neither for a page nor for a robots.txt.
func TestOneFailureOfTheNameServerCostsNoPage(t *testing.T) {
	for name, job := range map[string]*crawl.Job{"page": aJob("a"), "robots.txt": askingRobots("a")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				job.Retry.Base = crawl.Duration(2 * time.Millisecond)
				w := newWorld(t, 1, job)
				began := time.Now()
				n := onNetwork(w, func(string) bool { return false })
				fine := w.answer
				w.answer = func(w *world, f *crawl.Fetch) reply {
					if time.Since(began) > 4*time.Second {
						return fine(w, f)
					}
					r := reply{unasked: true, outcome: crawl.Outcome{Verdict: crawl.VerdictRetry, Reason: crawl.ReasonDNS}}
					if f.Task.Kind == crawl.KindRobots && f.Task.Attempt >= job.Retry.Max {
						origin, until := f.Task.URL.Origin(), time.Now().Add(time.Hour)
						n.shut[origin], r.outcome.Verdict = until, crawl.VerdictFailed
						r.outcome.Robots = &crawl.RobotsOutcome{Origin: origin, Expires: until}
					}
					return r
				}
				w.runAll(pages(t, "a", 1, 1)...)
				if got := w.verdicts(); got["done "] != 1 || len(got) != 1 {
					t.Errorf("verdicts %v, want the page", got)
				}
			})
		})
	}
}
