package simulation

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// fetcher stands in for a node's fetcher. It makes requests to the simulated web, ends them when the node is fenced,
// and makes none whose lease it may have had before.
type fetcher struct{ node *Node }

// Handle implements pipeline.Handler.
func (f fetcher) Handle(ctx context.Context, e *crawl.Fetch) ([]crawl.Event, error) {
	out := &crawl.Outcome{Task: e.Task, Started: time.Now()}
	if held, _ := f.node.tenure(); pipeline.DeliveryOf(ctx).Repeat || e.Tenure != held {
		return interrupted(out, pipeline.DeliveryOf(ctx).Repeat), nil
	}
	w := f.node.cluster.web
	host := hostNumber(e.Task.URL.HostKey())
	var page uint32
	if e.Task.Kind == crawl.KindPage {
		page = w.page(e.Task.URL)
	} else {
		page = w.first[host]
	}
	took, fails := w.answer(page, e.Task.Attempt)
	whole := f.request(ctx, host, took)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out.Ended = time.Now()
	switch {
	case !whole:
		return interrupted(out, true), nil
	case e.Task.Kind == crawl.KindRobots:
		out.Verdict, out.Status = crawl.VerdictDone, 404
		out.Robots = &crawl.RobotsOutcome{Origin: e.Task.For, Expires: out.Ended.Add(24 * time.Hour)}
		return []crawl.Event{out}, nil
	case fails:
		out.Verdict, out.Reason = crawl.VerdictRetry, crawl.ReasonConnect
		return []crawl.Event{out}, nil
	}
	out.Verdict, out.Status, out.Follows = crawl.VerdictDone, 200, e.Task.Tracked
	f.node.pages.Add(1)
	return []crawl.Event{&crawl.Page{Task: e.Task, Status: 200, FetchedAt: out.Ended}, out}, nil
}

// interrupted is the outcome of a request that was cut short, or may have been made before, or was not made at all.
func interrupted(out *crawl.Outcome, contacted bool) []crawl.Event {
	out.Verdict, out.Reason, out.Ended = crawl.VerdictInterrupted, crawl.ReasonInterrupted, time.Time{}
	if contacted {
		out.Ended = time.Now()
	}
	return []crawl.Event{out}
}

// request occupies the host; false: it was cut short.
func (f fetcher) request(ctx context.Context, host int, took time.Duration) bool {
	f.node.cluster.watch.begin(host, f.node)
	defer f.node.cluster.watch.end(host)
	f.node.asked.Add(1)
	tenure, _ := f.node.tenure()
	for began := time.Now(); ; {
		left := took - time.Since(began)
		if left <= 0 {
			return true
		}
		now, certain := f.node.tenure()
		if now != tenure || !sleep(ctx, min(left, certain)) {
			return false
		}
	}
}

// reader stands in for parser, content-seen and URL filter: from a page to its links.
type reader struct{ node *Node }

// Handle implements pipeline.Handler.
func (r reader) Handle(ctx context.Context, p *crawl.Page) ([]crawl.Event, error) {
	c := r.node.cluster
	if !sleep(ctx, tick(c.cfg.Work)) {
		return nil, ctx.Err()
	}
	links := c.web.links(c.web.page(p.Task.URL))
	s := &crawl.Filtered{Batch: crawl.Batch{Job: jobID, Tasks: make([]crawl.Task, len(links))}}
	for i, page := range links {
		s.Tasks[i] = crawl.Task{Job: jobID, URL: c.web.url(c.web.host(page), page), Priority: crawl.DefaultPriority,
			Depth: p.Task.Depth + 1, Referrer: p.Task.URL}
	}
	if p.Task.Tracked {
		s.Page = p.Task.URL
	}
	return []crawl.Event{s}, nil
}
