package frontier

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const (
	// refusedFor is how long a resource that could not be had is not tried again.
	refusedFor = time.Hour
	// silentAfter failures in a row of a host that never answered its resources are given up, and asked for again after
	// silentFor at the earliest: pages wait for them, and a browser would not have waited at all. With the pauses between
	// attempts these are 15 s: pages that are rendered without the scripts of a site that is back after a moment could
	// have their template given up.
	silentAfter = 3
	silentFor   = time.Minute
)

// silent reports whether the host's resources are given up.
func (h *host) silent(now time.Time) bool {
	return h.answers == 0 && h.rec.Failures >= silentAfter && now.Before(h.rec.Next.Add(silentFor))
}

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
		if out.Reason == crawl.ReasonHostDown {
			r.Expires = now.Add(silentFor)
		}
		if err := wasDiscarded(f.deps.Resources.PutResource(ctx, t.Job, r)); err != nil {
			return fmt.Errorf("frontier: note that %s cannot be had: %w", t.URL, err)
		}
	}
	return nil
}
