package frontier

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// linkPatience is how long a page that was gone is not looked for again because of links: other pages name it for as
// long as nobody mends them. A sitemap that says that it changed is believed at once.
const linkPatience = 30 * 24 * time.Hour

// told takes in what lists and links tell of pages. What is told of other nodes' pages goes on to their owners.
func (o Outcomes) told(ctx context.Context, out *crawl.Outcome) (others []crawl.Event, err error) {
	js, err := o.f.jobOf(ctx, out.Task.Job)
	if err != nil {
		return nil, err
	}
	a, err := o.f.again.of(o.f.jobNow(js))
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
	return others, o.f.toldHere(ctx, a, out.Task.Job, urls, own)
}

// toldHere notes what is told of this node's pages.
func (f *Frontier) toldHere(ctx context.Context, a *again, job crawl.JobID, urls []weburl.URL,
	at map[weburl.URL]time.Time) error {
	if err := f.again.know(ctx, job, a, urls); err != nil {
		return err
	}
	now := f.again.now()
	return f.again.change(ctx, job, urls, func(i int, s *revisit.State) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.tell(urls[i].Key(), s, at[urls[i]], now)
	})
}

// tell takes in that a page changed at a time, or, where that is zero, that a link leads to it. It reports whether that
// is to be stored. What is told twice, or is older than what is known, changes nothing. mu is held.
func (a *again) tell(k weburl.Key, s *revisit.State, at, now time.Time) bool {
	switch {
	case *s == (revisit.State{}) || at.After(now): // nobody knows what will be
		return false
	case s.Gone:
		return dueThoughGone(s, at, now)
	case at.IsZero() || s.IsTold() && !s.Due.IsZero():
		return false
	}
	told := s.Told(at)
	if told == *s {
		return false
	}
	*s = told
	if s.Due.IsZero() || s.Misses > 0 || s.Withdrawn {
		return true // its visit is under way, or what is told does not hurry it
	}
	if due := a.due(k, s, false, now); due.Before(s.Due) {
		s.Due = due
	}
	return true
}

// dueThoughGone makes a page due that is gone, once: if it is still missing it is gone as before.
func dueThoughGone(s *revisit.State, at, now time.Time) bool {
	switch {
	case !s.Due.IsZero(): // it is due already
		return false
	case at.IsZero() && now.Sub(s.Signal) < linkPatience && !now.Before(s.Signal):
		return false
	case !at.IsZero() && !at.After(s.Signal):
		return false
	}
	s.Due = now
	return true
}
