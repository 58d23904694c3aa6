package frontier

import (
	"context"
	"time"
)

// nextHost takes the host whose time came first from the workbench and gives it a place of the window; nil: no host
// may be contacted now. Hosts for which there is no place wait in a line of their grade or their domain, so that they
// are in nobody's way.
func (f *Frontier) nextHost(ctx context.Context, now time.Time) *host {
	most := f.domains.most(f.newcomers.active)
	for {
		h := f.bench.take(now)
		if h == nil {
			return nil
		}
		switch g := h.grade(); {
		case f.newcomers.room(g) <= 0:
			f.bench.done(h.unit, time.Time{})
			h.endTurn()
			f.newcomers.waiting[g].push(h)
		case !f.domains.turn(h, most):
			f.bench.done(h.unit, time.Time{})
			f.recallDomains(ctx, most)
		default:
			h.place = g
			f.newcomers.held[g]++
			return h
		}
	}
}

// pass ends the turn of a host that leases nothing.
func (f *Frontier) pass(h *host) {
	h.busy--
	f.newcomers.held[h.place]--
	f.bench.done(h.unit, time.Time{})
}

// recall lets hosts wait on the workbench again for which there are places now.
func (f *Frontier) recall(ctx context.Context) {
	f.newcomers.recall(f.back)
	f.recallDomains(ctx, f.domains.most(f.newcomers.active))
}

func (f *Frontier) recallDomains(ctx context.Context, most int) {
	f.domains.recall(most, func(h *host) bool {
		if h.unit == nil {
			return f.resolveNext(ctx, h)
		}
		f.back(h)
		return true
	})
}

func (f *Frontier) back(h *host) { f.bench.add(h, h.ready) }
