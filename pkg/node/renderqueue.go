package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// brokerRenders is the way to the renderers of a node, through its broker. Pages that nobody renders must not pile up
// there: where no renderer has been at the queue for a while none are sent.
type brokerRenders struct {
	depths func(context.Context) ([]bus.Depth, error)
	room   int

	mu      sync.Mutex
	asked   time.Time
	served  time.Time // when a renderer was last seen, or when it was first asked
	refused string
	full    bool
}

const (
	// renderLook is for how long the answer holds.
	renderLook = 2 * time.Second
	// renderPatience is for how long renderers may be away, as when they are started anew.
	renderPatience = time.Minute
)

// Room implements contentseen.RenderQueue. Where the broker does not tell, as without its management API, it is
// believed that there is room.
func (r *brokerRenders) Room(ctx context.Context) (refused string, full bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Sub(r.asked) < renderLook {
		return r.refused, r.full, nil
	}
	r.asked = now
	if r.served.IsZero() {
		r.served = now
	}
	depths, err := r.depths(ctx)
	if err != nil {
		return r.refused, r.full, ctx.Err()
	}
	waiting := int64(0)
	for _, d := range depths {
		switch d.Queue {
		case crawl.TopicRender:
			waiting += d.Ready + d.Unacked
			if d.Consumers > 0 {
				r.served = now
			}
		case crawl.TopicRender + ".retry":
			waiting += d.Ready
		}
	}
	r.full = false
	switch away := now.Sub(r.served); {
	case away > renderPatience:
		r.refused = fmt.Sprintf("no renderer has been there for %v", away.Round(time.Second))
	case waiting >= int64(r.room):
		r.full = true
		r.refused = fmt.Sprintf("%d pages wait to be rendered", waiting)
	default:
		r.refused = ""
	}
	return r.refused, r.full, nil
}

// spending tells a renderer from what jobs have spent whether they fetch: it has no frontier to ask.
type spending struct {
	jobs  crawl.Jobs
	spent crawl.Spending
}

// goes is renderer.Deps.Goes. Where a store does not answer, the job is believed to go on: its page comes back.
func (s spending) goes(id crawl.JobID) (fetches, stopped bool) {
	ctx, cancel := context.WithTimeout(context.Background(), renderLook)
	defer cancel()
	job, err := s.jobs.Job(ctx, id)
	if err != nil || !job.Bounds.Counted() {
		return true, false
	}
	spent, err := s.spent.Spent(ctx, id)
	return err != nil || job.Bounds.Met(spent) == "", false
}
