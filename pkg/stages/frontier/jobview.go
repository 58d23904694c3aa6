package frontier

import (
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// JobStats is what a frontier has under way of a job.
type JobStats struct {
	InFlight int   // leases without outcome
	Leases   int64 // since the job was met: it grows by one with each
}

// JobStats returns what is under way of a job.
func (f *Frontier) JobStats(id crawl.JobID) (s JobStats) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if js := f.jobs.of(id); js != nil {
		s.InFlight, s.Leases = js.pace.under, js.leases
	}
	return s
}

// Epoch is the epoch of the revision of a job that the frontier goes by; 0: it has nothing to do with the job.
func (f *Frontier) Epoch(id crawl.JobID) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if js := f.jobs.of(id); js != nil {
		return crawl.EpochOf(js.job.Epoch)
	}
	return 0
}

// Bound is the bound of a job that is met; empty: none.
func (f *Frontier) Bound(id crawl.JobID) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	js := f.jobs.of(id)
	switch {
	case js == nil:
		return ""
	case js.bound != "":
		return js.bound
	case !js.held && js.exhausted():
		return "max_pages"
	}
	return ""
}

// Leased returns the tasks of a job that are leased.
func (f *Frontier) Leased(id crawl.JobID) (tasks []crawl.Task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.leases.byID {
		if l.task.Job == id {
			tasks = append(tasks, l.task)
		}
	}
	return tasks
}

// Forget forgets a job of which nothing is under way and no host waits for its budget: it is met again when a task of
// it turns up. Jobs that have ended would fill the memory of a program that runs for months.
func (f *Frontier) Forget(id crawl.JobID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	js := f.jobs.of(id)
	if js != nil && (js.pace.under > 0 || len(js.blocked) > 0 || len(js.best.hosts) > 0 || len(js.pace.hosts) > 0) {
		return
	}
	delete(f.jobs.byID, id)
	f.jobs.limits = nil
	f.stock.levels.forget(id)
	if f.stock.fronts.owner != id {
		f.stock.fronts.forget(id)
	}
}
