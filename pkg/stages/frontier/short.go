package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Idle reports whether nothing is under way and no task is queued that could be leased, now or later: what is left
// belongs to jobs that are held or have spent their budgets. An open URL of any other job is nowhere then.
func (f *Frontier) Idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leases.len() > 0 || f.addresses.pending > 0 || f.unproven.Load() {
		return false
	}
	kept := f.stock.concluded()
	for _, h := range f.hosts.active {
		if h.busy > 0 {
			return false
		}
		if task := h.head(); h.blocked && task != nil {
			h.eachLane(func(l *lane) { kept += int64(len(l.buf)) + l.backlog })
		}
	}
	return f.stock.queued <= kept
}

// Overdue reports whether a lease is under way for longer than any fetch of its job takes.
func (f *Frontier) Overdue() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.run.out.unsent.Load() && len(f.leases.overdue(&f.jobs, time.Now())) > 0
}

// EndOverdue ends the leases that are overdue, as interrupted attempts: their hosts wait their delay from now on, and
// the URLs are leased again. It is called when the bus holds no lease and no outcome: then their messages were deleted
// or became dead letters. A URL whose lease gets lost again and again fails.
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
