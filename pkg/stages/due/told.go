package due

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Links tell of pages that are known already, in a continuous job: a sitemap or a feed says when one changed, and a
// link to one that is gone may mean that it is back. Only what is news to the page's state goes on to its frontier.

const (
	// toldEach is how many pages one event tells of.
	toldEach = 500
	// askedFor is how long a page is remembered that was looked up and not gone: the links of a site's menu are not looked
	// up with each of its pages.
	askedFor = 10 * time.Minute
)

// asked remembers pages that were looked up, and that were not gone.
type asked struct {
	mu    sync.Mutex
	since time.Time
	cache *cache
}

// lately returns the cache of those that were looked up lately.
func (a *asked) lately(now time.Time) *cache {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cache == nil || now.Sub(a.since) > askedFor || now.Before(a.since) {
		a.cache, a.since = newCache(cacheBits), now
	}
	return a.cache
}

// tell returns events that tell the frontiers what a batch says of pages that are known. fresh are those that are not.
func (h *Handler) tell(ctx context.Context, job *crawl.Job, c *crawl.Claim, fresh []crawl.Task) ([]crawl.Event, error) {
	if h.deps.Revisits == nil || !job.Revisits() || c.Render != nil {
		return nil, nil
	}
	tasks, keys := h.known(job, c.Tasks, fresh)
	if len(tasks) == 0 {
		return nil, nil
	}
	states, err := h.deps.Revisits.States(ctx, job.ID, keys...)
	if err != nil {
		return nil, fmt.Errorf("look up %d pages between their visits, the first %s: %w", len(keys), tasks[0].URL, err)
	}
	var news []crawl.PageTold
	lately, salt := h.asked.lately(time.Now()), saltOf(job)
	for i, t := range tasks {
		if isNews(&states[i], t.Told) {
			news = append(news, crawl.PageTold{URL: t.URL, At: t.Told})
		} else if t.Told.IsZero() {
			lately.add(mark(keys[i], salt))
		}
	}
	return h.toldTo(ctx, c, news)
}

// known are the pages of a batch that were claimed before and may have to be told of.
func (h *Handler) known(job *crawl.Job, all, fresh []crawl.Task) (tasks []*crawl.Task, keys []weburl.Key) {
	isNew := make(map[weburl.Key]bool, len(fresh))
	for i := range fresh {
		isNew[fresh[i].URL.Key()] = true
	}
	lately, salt := h.asked.lately(time.Now()), saltOf(job)
	for i := range all {
		t, k := &all[i], all[i].URL.Key()
		visited := t.Kind == crawl.KindPage || t.Kind == crawl.KindSitemap
		if visited && !isNew[k] && (!t.Told.IsZero() || !lately.has(mark(k, salt))) {
			tasks, keys = append(tasks, t), append(keys, k)
		}
	}
	return tasks, keys
}

// isNews reports whether a word about a page is to be told: at is when it changed, zero for a link to it.
func isNews(s *revisit.State, at time.Time) bool {
	switch {
	case *s == (revisit.State{}):
		return false
	case s.Gone:
		return true // whether it is too soon to look again is for the frontier to say
	}
	return !at.IsZero() && s.Told(at) != *s
}

// toldTo makes events of what is told, for the nodes that own the pages.
func (h *Handler) toldTo(ctx context.Context, c *crawl.Claim, news []crawl.PageTold) (events []crawl.Event, err error) {
	if len(news) == 0 {
		return nil, nil
	}
	var view crawl.OwnersView
	if h.deps.Owners != nil {
		if view, err = h.deps.Owners.View(); err != nil {
			return nil, fmt.Errorf("owners of %d pages, the first %s: %w", len(news), news[0].URL, err)
		}
	}
	last := map[string]*crawl.Outcome{}
	for _, p := range news {
		node := ""
		if view != nil {
			if node, err = view.Owner(ctx, p.URL); err != nil {
				return nil, fmt.Errorf("owner of %s: %w", p.URL, err)
			}
		}
		e := last[node]
		if e == nil || len(e.Observed.Told) == toldEach {
			e = crawl.Observation(&crawl.Task{Job: c.Job, URL: p.URL, Epoch: c.Epoch}, crawl.Observed{What: crawl.ObservedTold})
			e.Node, last[node] = node, e
			events = append(events, e)
		}
		e.Observed.Told = append(e.Observed.Told, p)
	}
	return events, nil
}
