package frontier

import (
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// maxLost is how often a page is fetched again, beyond the job's retries, because its body was lost. More is no
// accident: the programs do not share their spool.
const maxLost = 3

var errFetchUnderWay = errors.New("frontier: the outcome of the fetch whose body was lost is not stored yet")

// lost reports whether the outcome is a parser's, of a page whose body was lost. The fetcher's outcome of the same
// fetch comes before or after it.
func lost(out *crawl.Outcome) bool {
	return out.Verdict == crawl.VerdictInterrupted && out.Reason == crawl.ReasonBodyLost
}

// leaseLost reports whether the outcome is the frontier's own, of a lease that will never end: see EndOverdue.
func leaseLost(out *crawl.Outcome) bool {
	return out.Verdict == crawl.VerdictInterrupted && out.Reason == crawl.ReasonLeaseLost
}

// takeBack takes back the outcome of the fetch whose body was lost, so that the URL can be fetched again as its next
// attempt. It is stale where that happened before: the attempt tells. Where the fetch has no outcome yet, that is
// waited for, since it would end the story anew; but not for ever, as the URL may be queued again already.
func (o Outcomes) takeBack(ctx context.Context, r *result) (stale bool, err error) {
	attempt := pipeline.DeliveryOf(ctx).Attempt
	wait := &bus.RetryError{After: bus.Backoff(attempt), Err: errFetchUnderWay}
	switch {
	case r.known: // the fetcher's outcome moves the host's clocks and ends the lease
		return false, wait
	case r.leased:
		return true, nil
	case r.Task.Visit > 0: // its outcome stands, and the page is visited anew
		return false, nil
	}
	e, err := o.f.lookup(ctx, &r.Task)
	done := err == nil && e.State == crawl.StateDone
	switch {
	case err != nil:
		return false, err
	case done && e.Attempts > r.Task.Attempt+1:
		return true, nil
	case !done && attempt < bus.MaxAttempts:
		return false, wait
	}
	r.counted = done && crawl.CountsAsPage(e.Kind, e.Verdict, e.Status)
	if r.Task.Attempt >= r.job.Retry.Max+maxLost {
		r.Verdict = crawl.VerdictFailed
	}
	return false, o.reopen(ctx, r)
}

// lookup asks the ledger for a task's URL.
func (f *Frontier) lookup(ctx context.Context, t *crawl.Task) (*crawl.Entry, error) {
	entries, err := f.deps.Ledger.Lookup(ctx, t.Job, t.URL.Key())
	if err != nil {
		return nil, fmt.Errorf("frontier: look up %s: %w", t.URL, err)
	}
	return &entries[0], nil
}
