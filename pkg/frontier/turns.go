package frontier

import "time"

// nextHost takes the host whose time came first from the workbench and gives it a place of the window; nil: no host may be contacted
// now. Hosts for which there is no place wait in a line of their grade, so that they are in nobody's way.
func (f *Frontier) nextHost(now time.Time) *host {
	for {
		h := f.bench.take(now)
		if h == nil {
			return nil
		}
		if g := h.grade(); f.newcomers.room(g) > 0 {
			h.place = g
			f.newcomers.held[g]++
			return h
		} else {
			f.bench.done(h.unit, time.Time{})
			f.newcomers.waiting[g].push(h)
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
func (f *Frontier) recall() {
	f.newcomers.recall(func(h *host) { f.bench.add(h, h.ready) })
}
