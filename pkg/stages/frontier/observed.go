package frontier

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// observed takes in what was found out about a page besides its outcome. What another node's page says goes on to its
// owner: a link may lead from one node's page to the host of another, and a host may have moved.
func (o Outcomes) observed(ctx context.Context, out *crawl.Outcome) ([]crawl.Event, error) {
	if out.Observed.What == crawl.ObservedTold {
		return o.told(ctx, out)
	}
	if p := o.f.duties.place(out.Task.URL); p.Node != "" {
		told := *out
		told.Node = p.Node
		return []crawl.Event{&told}, nil
	}
	return o.observedHere(ctx, out)
}

func (o Outcomes) observedHere(ctx context.Context, out *crawl.Outcome) ([]crawl.Event, error) {
	js, err := o.f.jobOf(ctx, out.Task.Job)
	if err != nil {
		return nil, err
	}
	a, err := o.f.book.Job(o.f.jobNow(js))
	if a == nil || js.discarded(&out.Task) {
		return nil, err
	}
	mark, err := a.Observe(ctx, out)
	if mark == nil || err != nil {
		return nil, err
	}
	return []crawl.Event{&crawl.Document{Page: crawl.Page{Task: out.Task}, Mark: mark}}, nil
}

// told takes in what lists and links tell of pages. What is told of other nodes' pages goes on to their owners.
func (o Outcomes) told(ctx context.Context, out *crawl.Outcome) (others []crawl.Event, err error) {
	js, err := o.f.jobOf(ctx, out.Task.Job)
	if err != nil {
		return nil, err
	}
	a, err := o.f.book.Job(o.f.jobNow(js))
	if a == nil || js.discarded(&out.Task) {
		return nil, err
	}
	own := make(map[weburl.URL]time.Time, len(out.Observed.Told))
	urls, nodes := make([]weburl.URL, 0, len(out.Observed.Told)), map[string]*crawl.Outcome{}
	for _, p := range out.Observed.Told {
		node := o.f.duties.place(p.URL).Node
		if node == "" {
			if _, twice := own[p.URL]; !twice {
				urls = append(urls, p.URL)
			}
			own[p.URL] = p.At
			continue
		}
		e := nodes[node]
		if e == nil {
			e = crawl.Observation(&crawl.Task{Job: out.Task.Job, URL: p.URL, Epoch: out.Task.Epoch},
				crawl.Observed{What: crawl.ObservedTold})
			e.Node, nodes[node] = node, e
			others = append(others, e)
		}
		e.Observed.Told = append(e.Observed.Told, p)
	}
	if len(urls) == 0 {
		return others, nil
	}
	return others, a.Told(ctx, urls, own)
}
