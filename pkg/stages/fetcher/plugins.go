package fetcher

import (
	"context"
	"maps"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Plugins change requests before they are made. robots.txt and log-ins are none of their business.
type Plugins interface {
	// Request says what becomes of a request with a header. It changes nothing of its arguments.
	Request(ctx context.Context, job *crawl.Job, t *crawl.Task, header map[string][]string) (crawl.RequestChange, error)
}

// askPlugins lets the job's plug-ins change the request. ok is false where they drop it: then out says why.
func (h *Handler) askPlugins(ctx context.Context, job *crawl.Job, t *crawl.Task,
	out *crawl.Outcome) (c crawl.RequestChange, ok bool, err error) {
	if h.deps.Plugins == nil || job.Pipeline.Empty() || t.Kind == crawl.KindRobots {
		return c, true, nil
	}
	if c, err = h.deps.Plugins.Request(ctx, job, t, header(job, t)); err != nil || c.Drop == "" {
		return c, err == nil, err
	}
	Fault{crawl.VerdictRefused, c.Drop, c.Why}.apply(out)
	return c, false, nil
}

// setHeader puts the fields that plug-ins set into what this request has besides. Secrets and cookies stay.
func (a *attempt) setHeader(r *Request) {
	if len(a.change.Header) == 0 {
		return
	}
	own := r.Header
	r.Header = maps.Clone(a.change.Header)
	maps.Copy(r.Header, own)
}
