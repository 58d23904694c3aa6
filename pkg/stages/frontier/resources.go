package frontier

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const (
	// refusedFor is how long a resource that could not be had is not tried again.
	refusedFor = time.Hour
	// failedFor is how long one is not tried again whose server failed: that may pass.
	failedFor = 10 * time.Minute
	// silentAfter is after how many failures in a row the resources of a host are given up that has never answered, since
	// pages wait for them. With the pauses between attempts that takes 15 s where connections are refused. Fewer would
	// be rash: ten pages that are rendered without their scripts have their template given up (package decide).
	silentAfter = 3
	// silentFor is for how long, at least, the resources of a host that is down are not asked for again.
	silentFor = time.Minute
)

// silent reports whether the host's resources are given up.
func (h *host) silent(task *crawl.Task, j *crawl.Job, now time.Time) bool {
	return h.answers == 0 && h.rec.Failures >= silentAfter && now.Before(h.rec.Next.Add(silentFor)) && h.failedBy(task, j)
}

// refuseResources keeps why resources cannot be had, so that renders do not wait for them. Those that were answered the
// fetcher has stored.
func (f *Frontier) refuseResources(ctx context.Context, outs []*crawl.Outcome, now time.Time) error {
	if f.deps.Resources == nil {
		return nil
	}
	for _, out := range outs {
		t := &out.Task
		if t.Kind != crawl.KindResource || !out.Verdict.Final() || out.Verdict == crawl.VerdictDone || isKept(out) {
			continue
		}
		r := crawl.Resource{URL: t.URL, Status: out.Status, At: now, Expires: now.Add(refusedFor),
			Refused: cmp.Or(out.Reason, out.Verdict.String())}
		switch {
		case out.Reason == crawl.ReasonHostDown:
			r.Expires = now.Add(silentFor)
		case out.Status >= http.StatusInternalServerError:
			r.Expires = now.Add(failedFor)
		}
		if err := crawl.UnlessDiscarded(f.deps.Resources.PutResource(ctx, t.Job, r)); err != nil {
			return fmt.Errorf("frontier: note that %s cannot be had: %w", t.URL, err)
		}
	}
	return nil
}

// isKept reports whether the fetcher has stored an error that the host answered: it has its body.
func isKept(out *crawl.Outcome) bool {
	return (out.Verdict == crawl.VerdictGone || out.Verdict == crawl.VerdictBlocked) && out.Reason == crawl.ReasonStatus &&
		out.Status >= http.StatusBadRequest
}
