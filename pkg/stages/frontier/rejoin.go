package frontier

import (
	"cmp"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// rejoin lets a host wait for the moment at which its next task can be leased, or takes it off the workbench. A host
// whose next task waits for something other than time (a robots.txt, its job's page budget) is not put into the heap;
// the code that brings it calls rejoin. js is the job that counts if the host's next task is not in memory.
func (f *Frontier) rejoin(h *host, js *jobState, now time.Time) {
	if h.unit == nil || h.resolving || h.line != nil {
		return
	}
	if !h.work() {
		f.bench.remove(h)
		f.deactivate(h, now)
		return
	}
	task := h.head()
	if task != nil {
		if next := f.jobs.of(task.Job); next != nil {
			js = next
		}
	} else if next := f.jobs.of(h.job); next != nil {
		js = next
	}
	switch {
	case js == nil && f.hosts.waits(h.rec.Key): // HoldHost, or Visit.End, lets it wait again
		f.bench.remove(h)
		return
	case js == nil && h.busy > 0: // the end of the lease lets it wait again
		return
	case js == nil: // the dispatcher will see whose turn it is
		f.bench.add(h, now)
		return
	case h.busy >= js.job.Politeness.HostConnections:
		return
	}
	if at, hold := f.readyAt(h, task, js, now); hold {
		f.bench.remove(h)
	} else {
		f.bench.add(h, at)
	}
}

// readyAt returns when the host's next task can be leased; hold: it waits for an event, not for a time.
func (f *Frontier) readyAt(h *host, task *crawl.Task, js *jobState, now time.Time) (at time.Time, hold bool) {
	at = f.hosts.earliest(h, js.job)
	if f.hosts.waits(h.rec.Key) {
		return at, true
	}
	if task == nil && h.foreign {
		return now, false
	}
	if task != nil {
		switch p := f.duties.place(task.URL); {
		case p.Node != "":
			return now, false
		case !p.Lease:
			return later(at, now.Add(holdPause)), false
		case p.Since.After(h.since):
			return now, false
		}
	}
	switch {
	case h.dismissal(cmp.Or(task, &crawl.Task{}), js.job, now) != nil:
		return now, false
	case task == nil:
		return at, false
	}
	if js.keeps(task) {
		if f.setsAside(js) {
			return now, false
		}
		if other := f.otherTurn(h); other != nil {
			return f.hosts.earliest(h, other.job), false
		}
		js.block(h)
		return at, true
	}
	wait, hold := f.robots.wait(h, task, js.job, now)
	at = later(at, wait)
	if hold || at.After(now) {
		return at, hold
	}
	return at, f.letWait(h, task, js, now)
}

// letWait lets a host whose time has come wait for better ones, or for the pace of its job, and says whether it does.
func (f *Frontier) letWait(h *host, task *crawl.Task, js *jobState, now time.Time) bool {
	switch {
	case f.outdoes(js, h, task, now):
		js.best.hold(h, now)
	case f.holds(js, now):
		js.pace.hold(h)
	default:
		return false
	}
	return true
}

// setsAside reports whether tasks of the job are taken out of the way of other jobs' tasks, which may wait for places
// on the workbench, or of its own assets: its budget is spent.
func (f *Frontier) setsAside(js *jobState) bool {
	if !js.full() || js.leased > 0 {
		return false
	}
	return len(f.jobs.byID) > 1 || len(f.hosts.active) >= f.cfg.MaxActive || js.besides() && !js.held || js.job.Revisits()
}

// unblock lets as many blocked hosts wait again as the budgets have room for. The dispatcher calls it in every round,
// so a host that does not use its chance takes it from no other.
func (dp *dispatcher) unblock(now time.Time) {
	for _, js := range dp.jobs.byID {
		room := len(js.blocked)
		if !dp.setsAside(js) {
			room = min(room, js.room())
		}
		for range room {
			dp.rejoin(js.unblock(), js, now)
		}
	}
}

// deactivate takes a host without tasks off the workbench, and frees its back queue.
func (f *Frontier) deactivate(h *host, now time.Time) {
	if !h.idle() {
		return
	}
	h.eachLane(func(l *lane) {
		if l.queue != "" {
			f.stock.backs.give(l.queue)
		}
	})
	f.bench.exit(h, now)
	f.hosts.remove(h)
}
