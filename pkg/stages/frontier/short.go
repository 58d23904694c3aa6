package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A queue gives fewer tasks than were put there when somebody has deleted or purged it. The counts are made right then,
// so that nobody waits for tasks that are gone. Their URLs are open in the ledger: where it can be asked for them
// (package recovery) they are queued again once nothing else is left to do.

// tellShort says that a queue has lost tasks. f.mu is held.
func (f *Frontier) tellShort(queue string, tasks int64) {
	f.queued -= tasks
	f.deps.Log.Warn("a queue holds fewer tasks than were put there: somebody deleted or purged it", "queue", queue, "tasks", tasks)
}

// frontShort notes that a front queue was empty although n tasks had been counted there.
func (f *Frontier) frontShort(front *jobFronts, priority int, n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n = min(n, front.lengths[priority]); n > 0 {
		front.lengths[priority] -= n
		f.tellShort(front.queue(priority), n)
	}
}

// laterShort notes that a queue of retries was empty although n tasks had been counted there.
func (f *Frontier) laterShort(number int, n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := f.later[number]
	q.more = false
	if n = min(n, q.count); n > 0 {
		q.count -= n
		f.tellShort(laterName(number), n)
	}
}

// Idle reports whether nothing is under way and no task is queued that could be leased, now or later: what is left
// belongs to jobs that are held or have spent their budgets. An open URL of any other job is nowhere then.
func (f *Frontier) Idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leases.len() > 0 || f.resolving > 0 || f.unproven.Load() {
		return false
	}
	kept := f.aside
	for number, q := range f.later {
		if isShut(number) { // they have their outcomes, for the time being
			kept += q.count
		}
	}
	for _, h := range f.hosts.active {
		if h.busy > 0 {
			return false
		}
		if task := h.head(); h.blocked && task != nil {
			h.eachLane(func(l *lane) { kept += int64(len(l.buf)) + l.backlog })
		}
	}
	return f.queued <= kept
}

// Overdue reports whether a lease is under way for longer than any fetch of its job takes.
func (f *Frontier) Overdue() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.unsaid.Load() && len(f.leases.overdue(&f.jobs, time.Now())) > 0
}

// EndOverdue ends the leases that are overdue, as attempts of which nobody knows how they went: their hosts wait their
// delay from now on, and the URLs are leased again. It is called when the bus holds no lease and no outcome: then
// somebody has deleted their messages, or buried them. A URL whose lease gets lost again and again fails.
func (f *Frontier) EndOverdue(ctx context.Context) (ended int, err error) {
	f.mu.Lock()
	tasks := f.leases.overdue(&f.jobs, time.Now())
	f.mu.Unlock()
	for _, t := range tasks {
		out := &crawl.Outcome{Task: t, Verdict: crawl.VerdictInterrupted, Reason: crawl.ReasonLeaseLost, Started: time.Now(),
			Detail: "its message, or that of its outcome, is gone from the queues"}
		if _, err := f.Outcomes().Handle(ctx, out); err != nil {
			return ended, fmt.Errorf("end the lost lease of %s: %w", t.URL, err)
		}
		ended++
	}
	return ended, nil
}
