package node_test

import (
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// A job is widened at the instant at which it ends. It goes on by itself, or is said to have been revised since it
// ended, and goes on when it is submitted again: no revision is lost.
func TestAJobIsRevisedAsItEnds(t *testing.T) {
	srv := serve(t, fakeweb.Plain(3, 30))
	e, _ := runEngine(t, srv, t.TempDir())
	state := func(id crawl.JobID) (ended, revised, still bool) {
		s, _, err := e.State(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return s.Ended, s.Revised, s.Queued == 0 && s.InFlight == 0 && s.Pages > 0
	}
	whole, byItself := 0, 0
	jobs := harness.Fewer(24)
	for i := range jobs {
		job := jobFor(srv)
		job.ID = crawl.JobID(fmt.Sprint("widened-", i))
		if i > 0 {
			job.MaxDepth = 1
		}
		submit(t, e, job)
		waitEnds(t, "it seems to end", func() bool { ended, _, still := state(job.ID); return ended || still && i > 0 })
		next := *job
		next.MaxDepth = 20
		if _, err := e.Revise(t.Context(), &next); err != nil {
			t.Fatal(err)
		}
		waitEnds(t, "it ends", func() bool { ended, _, _ := state(job.ID); return ended })
		if _, revised, _ := state(job.ID); revised {
			submit(t, e, &next)
			waitEnds(t, "it ends again", func() bool { ended, _, _ := state(job.ID); return ended })
		} else {
			byItself++
		}
		n := len(pagesIn(t, e.JobDir(job.ID)))
		if i == 0 {
			whole = n
		}
		if n != whole || n < 20 {
			t.Errorf("%s has %d pages, want %d", job.ID, n, whole)
		}
	}
	t.Logf("%d of %d went on by themselves", byItself, jobs)
}
