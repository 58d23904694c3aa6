package frontier

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// workbench says which host is the next to be asked. A host waits in the schedule for its time. If there is no place
// for it then, it waits in the line of its grade or its domain, where it blocks no other host. Frontier.mu guards it.
type workbench struct {
	*schedule
	newcomers newcomers
	domains   domains
	pacer     pacer
}

func newWorkbench(window int) workbench {
	return workbench{schedule: newSchedule(), domains: newDomains(), newcomers: newcomers{window: window, silence: 1}}
}

// enter puts a host of the domain on the workbench. It waits for nothing yet.
func (w *workbench) enter(h *host, domain string) {
	w.domains.join(h, domain)
	w.newcomers.join(h)
}

// exit takes a host off the workbench.
func (w *workbench) exit(h *host, now time.Time) {
	w.leave(h, now)
	w.domains.leave(h)
	w.newcomers.leave(h)
	w.pacer.reset()
}

// most is how many hosts of a domain may take turns now.
func (w *workbench) most() int { return w.domains.most(w.newcomers.active) }

// next takes the host whose time came first and gives it a place of the window; nil: no host may be contacted now.
// resolve is asked for the address of a host that has none yet, when it is its domain's turn.
func (w *workbench) next(now time.Time, resolve func(*host) bool) *host {
	most := w.most()
	for {
		h := w.take(now)
		if h == nil {
			return nil
		}
		switch g := h.grade(); {
		case w.newcomers.room(g) <= 0:
			w.done(h.unit, time.Time{})
			h.endTurn()
			w.newcomers.waiting[g].push(h)
		case !w.domains.turn(h, most):
			w.done(h.unit, time.Time{})
			w.recallDomains(most, resolve)
		default:
			h.place = g
			w.newcomers.held[g]++
			h.busy++
			return h
		}
	}
}

// pass ends the turn of a host that leases nothing.
func (w *workbench) pass(h *host) {
	w.vacate(h, h.place)
	w.done(h.unit, time.Time{})
}

// vacate gives back the place that a host has for a turn or a lease.
func (w *workbench) vacate(h *host, place grade) {
	h.busy--
	w.newcomers.held[place]--
}

// recall lets hosts wait in the schedule again for which there are places now.
func (w *workbench) recall(resolve func(*host) bool) {
	w.newcomers.recall(w.back)
	w.recallDomains(w.most(), resolve)
}

func (w *workbench) recallDomains(most int, resolve func(*host) bool) {
	w.domains.recall(most, func(h *host) bool {
		if h.unit == nil {
			return resolve(h)
		}
		w.back(h)
		return true
	})
}

func (w *workbench) back(h *host) { w.add(h, h.ready) }

// hear notes whether the host answered.
func (w *workbench) hear(h *host, out *crawl.Outcome) {
	if h.stranger || !out.Contacted() || out.Verdict == crawl.VerdictInterrupted {
		return
	}
	heard := out.Status != 0
	h.slowed = out.Ended.Sub(out.Started) > slowExchange || cutOff(out)
	if h.answers < proof {
		w.newcomers.learn(heard)
	}
	if heard {
		w.newcomers.note(h, h.answers+1)
	}
}
