package frontier

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// rejoin lets a host wait for the moment at which its next task can be leased. A host whose next task waits for something
// other than time (a robots.txt, its job's page budget) is not put into the heap; whoever brings that calls rejoin.
func (f *Frontier) rejoin(h *host, js *jobState, now time.Time) {
	if h.unit == nil || h.resolving {
		return
	}
	if !h.work() {
		f.bench.remove(h)
		f.deactivate(h, now)
		return
	}
	if len(h.buf) > 0 {
		if next := f.jobs[h.buf[0].Task.Job]; next != nil {
			js = next
		}
	}
	if js == nil || h.busy >= js.job.Politeness.HostConnections {
		return
	}
	at := h.earliest(js.job)
	if len(h.buf) > 0 {
		task := &h.buf[0].Task
		if task.Kind == crawl.KindPage && js.full() {
			f.block(h)
			return
		}
		if wait, hold := h.robotsWait(task, js.job, now); hold {
			return
		} else if wait.After(at) {
			at = wait
		}
	}
	f.bench.add(h, at)
}

// block keeps a host until its job's page budget may have room again.
func (f *Frontier) block(h *host) {
	f.bench.remove(h)
	if !h.blocked {
		h.blocked = true
		f.blocked = append(f.blocked, h)
	}
}

// unblock lets blocked hosts wait again, after a page lease that did not become a page.
func (f *Frontier) unblock(now time.Time) {
	hosts := f.blocked
	f.blocked = nil
	for _, h := range hosts {
		h.blocked = false
		f.rejoin(h, nil, now)
	}
}
