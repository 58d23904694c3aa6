package frontier

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// refusedFor is how long a resource that could not be had is not tried again.
const refusedFor = time.Hour

// refuseResources keeps why resources cannot be had, so that renders do not wait for them. Those that were answered the
// fetcher has stored.
func (f *Frontier) refuseResources(ctx context.Context, outs []*crawl.Outcome, now time.Time) error {
	if f.deps.Resources == nil {
		return nil
	}
	for _, out := range outs {
		t := &out.Task
		if t.Kind != crawl.KindResource || !out.Verdict.Final() || out.Verdict == crawl.VerdictDone {
			continue
		}
		r := crawl.Resource{URL: t.URL, Status: out.Status, At: now, Expires: now.Add(refusedFor), Refused: cmp.Or(out.Reason, out.Verdict.String())}
		if err := wasDiscarded(f.deps.Resources.PutResource(ctx, t.Job, r)); err != nil {
			return fmt.Errorf("frontier: note that %s cannot be had: %w", t.URL, err)
		}
	}
	return nil
}
