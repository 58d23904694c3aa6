package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A push that is cut short leaves uncounted tasks in queues: tasks whose push was reported as failed, and tasks that a
// broker got twice because its confirm was lost with the connection. They would hide the counted tasks behind them,
// because the frontier stops drawing when the count reaches zero. So a frontier that has nothing else to do draws again
// from all queues that it has filled, until they are empty.

// unsureEvery is how often it does, at most.
const unsureEvery = 5 * time.Second

// push stores tasks in queues. It marks their content as uncertain first, so that probe draws from them again.
func (f *Frontier) push(ctx context.Context, items []crawl.Queued) error {
	f.unproven.Store(true)
	err := f.deps.Queues.Push(ctx, items...)
	if err == nil {
		f.looks.pushed(items)
	}
	return err
}

// probe looks for tasks that were not counted, where nothing else is left to do and queues were filled since it last
// did.
func (dp *dispatcher) probe(ctx context.Context, now time.Time) (bool, error) {
	dp.mu.Lock()
	_, waits := dp.bench.due()
	quiet := !waits && !dp.paused && dp.leases.len() == 0 && dp.addresses.pending == 0 &&
		len(dp.drawn) == 0 && len(dp.out.messages) == 0
	if !quiet || now.Sub(dp.probed) < unsureEvery || !dp.unproven.Swap(false) {
		dp.mu.Unlock()
		return false, nil
	}
	dp.probed = now
	dp.stock.recount()
	for _, h := range dp.hosts.active {
		h.eachLane(func(l *lane) { dp.stock.queued += int64(len(l.buf)) + l.backlog })
	}
	dp.mu.Unlock()
	return true, dp.probeBacks(ctx)
}

// probeBacks moves what lies in back queues that no host has to the front queues.
func (dp *dispatcher) probeBacks(ctx context.Context) error {
	if err := dp.sendBack(ctx, nil); err != nil {
		return err
	}
	for _, name := range dp.stock.backs.free {
		ds, err := dp.pull(ctx, name, dp.cfg.Batch)
		for ; err == nil && len(ds) > 0; ds, err = dp.pull(ctx, name, dp.cfg.Batch) {
			dp.mu.Lock()
			dp.stock.queued += int64(len(ds))
			dp.mu.Unlock()
			if err := dp.sendBack(ctx, ds); err != nil {
				return err
			}
		}
		if err != nil {
			dp.unproven.Store(true)
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
			j.more[p] = p > 0 && (p <= crawl.MaxPriority || j.levelled) // what was set aside is counted
			queued += j.lengths[p]
		}
	}
	return queued
}

// waiting are the lengths by which a queue is chosen: one that is to be looked into holds a task at least.
func (j *jobFronts) waiting() (lengths [crawl.MaxFront + 1]int64) {
	for p, n := range j.lengths {
		if lengths[p] = n; j.more[p] {
			lengths[p] = max(n, 1)
		}
	}
	return lengths
}
