package frontier

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A job that is deleted leaves tasks in queues and leases under way, and another job of the same id may begin
// meanwhile. Tasks of a former life are known by their epoch: they are dropped where they come to hand. The lease of
// one frees its host and moves its clocks as any other, and nothing is recorded.

// Discard forgets a job that was deleted.
func (f *Frontier) Discard(id crawl.JobID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if js := f.jobs.of(id); js != nil && !js.dead {
		js.dead = true
		f.endLife(js)
	}
}

// endLife lets hosts that wait for a job's budget go on. mu is held.
func (f *Frontier) endLife(js *jobState) {
	now := time.Now()
	js.unblockAll()
	f.stock.retrieve(js.job.ID)
	f.hosts.each(func(h *host) { f.rejoin(h, js, now) })
	f.bench.pacer.reset()
	f.signal()
}

// succeeds reports whether a job is another life than that of the state, which ends then: jobOf makes the new one. mu
// is held.
func (f *Frontier) succeeds(js *jobState, job *crawl.Job) bool {
	if !js.dead && job.First == js.job.First || job.First < js.job.First {
		return false
	}
	f.jobs.forget(js)
	f.endLife(js)
	return true
}
