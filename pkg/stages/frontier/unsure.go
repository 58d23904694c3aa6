package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A push that is cut short leaves tasks in queues that nobody has counted: such as were said to have failed, and such
// as a broker got twice because its confirm was lost with the connection. They would hide those behind them, which
// were counted: once the count is spent, nobody draws any more. So a frontier that has nothing else to do looks into
// the queues again, until all that it has filled are empty.

// unsureEvery is how often it does, at most.
const unsureEvery = 5 * time.Second

// push stores tasks in queues. Whatever it returns, nobody knows for certain what is in these from now on.
func (f *Frontier) push(ctx context.Context, items []crawl.Queued) error {
	f.unproven.Store(true)
	return f.deps.Queues.Push(ctx, items...)
}

// probe looks for tasks that were not counted, where nothing else is left to do and queues were filled since it last
// did.
func (f *Frontier) probe(ctx context.Context, now time.Time) (bool, error) {
	f.mu.Lock()
	_, waits := f.bench.due()
	quiet := !waits && !f.paused && f.leases.len() == 0 && f.addresses.pending == 0 && len(f.drawn) == 0 && len(f.out.messages) == 0
	if !quiet || now.Sub(f.probed) < unsureEvery || !f.unproven.Swap(false) {
		f.mu.Unlock()
		return false, nil
	}
	f.probed = now
	f.stock.recount()
	for _, h := range f.hosts.active {
		h.eachLane(func(l *lane) { f.stock.queued += int64(len(l.buf)) + l.backlog })
	}
	f.mu.Unlock()
	return true, f.probeBacks(ctx)
}

// probeBacks moves what lies in back queues that no host has to the front queues.
func (f *Frontier) probeBacks(ctx context.Context) error {
	if err := f.sendBack(ctx, nil); err != nil {
		return err
	}
	for _, name := range f.stock.backs.free {
		ds, err := f.deps.Queues.Pull(ctx, name, f.cfg.Batch)
		for ; err == nil && len(ds) > 0; ds, err = f.deps.Queues.Pull(ctx, name, f.cfg.Batch) {
			f.mu.Lock()
			f.stock.queued += int64(len(ds))
			f.mu.Unlock()
			if err := f.sendBack(ctx, ds); err != nil {
				return err
			}
		}
		if err != nil {
			f.unproven.Store(true)
			return fmt.Errorf("frontier: look into queue %s: %w", name, err)
		}
	}
	return nil
}

// recount makes good counts that more was drawn from than was counted, has all front queues looked into, and returns
// how many tasks they hold.
func (f *fronts) recount() (queued int64) {
	for _, j := range f.all {
		for p := range j.lengths {
			j.lengths[p] = max(j.lengths[p], 0)
			j.more[p] = j.queue(p) != asideQueue
			queued += j.lengths[p]
		}
	}
	return queued
}

// waiting are the lengths by which a queue is chosen: one that is to be looked into holds a task at least.
func (j *jobFronts) waiting() (lengths [crawl.MaxPriority + 1]int64) {
	for p, n := range j.lengths {
		if lengths[p] = n; j.more[p] {
			lengths[p] = max(n, 1)
		}
	}
	return lengths
}
