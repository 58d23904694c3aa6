package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Recover rebuilds the workbench from the queues and the host records. It is called once, before Run and before any
// message is handled. resumed says that fetches may have been made before: then no host is contacted before its delay
// has passed from now on.
func (f *Frontier) Recover(ctx context.Context, resumed bool) error {
	lengths, err := f.deps.Queues.Lengths(ctx)
	if err != nil {
		return fmt.Errorf("frontier: lengths of the queues: %w", err)
	}
	now := time.Now()
	if resumed || len(lengths) > 0 {
		f.hosts.resumedAt = now
	}
	for name, n := range lengths {
		if err := f.run.recoverQueue(ctx, name, n, now); err != nil {
			return err
		}
	}
	f.signal()
	return nil
}

func (dp *dispatcher) recoverQueue(ctx context.Context, name string, n int64, now time.Time) error {
	q, err := crawl.ParseQueueName(name)
	if err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	dp.mu.Lock()
	dp.stock.queued += n
	dp.mu.Unlock()
	switch q.Kind {
	case crawl.QueueFront:
		if q.Number > crawl.MaxFront {
			return fmt.Errorf("frontier: queue %s: their numbers end at %d: a later version made it", name, crawl.MaxFront)
		}
		return dp.recoverFront(ctx, name, q.Number, q.Job, n)
	case crawl.QueueLevel:
		return dp.recoverLevel(ctx, name, &q, n)
	case crawl.QueueLater:
		dp.stock.later[q.Number] = &laterQueue{count: n}
	case crawl.QueueBack:
		dp.stock.backs.found(q.Number)
		return dp.recoverBack(ctx, name, n, now)
	}
	return nil
}

// recoverFront counts a front queue's tasks, and finds out whose the queues are that name no job: the job's of the
// first task.
func (dp *dispatcher) recoverFront(ctx context.Context, name string, number int, job crawl.JobID, n int64) error {
	var first []crawl.Delivery
	if job == "" && number > 0 {
		var err error
		if first, err = dp.deps.Queues.Pull(ctx, name, 1); err != nil {
			return fmt.Errorf("frontier: head of queue %s: %w", name, err)
		}
	}
	dp.mu.Lock()
	defer dp.mu.Unlock()
	front := dp.stock.fronts.of(job)
	front.lengths[number] += n - int64(len(first))
	front.levelled = front.levelled || number > crawl.MaxPriority
	for i := range first {
		dp.stock.fronts.owner = first[i].Task.Job
	}
	dp.drawn = append(dp.drawn, first...)
	return nil
}

// recoverBack gives a back queue to the host of its head task.
func (dp *dispatcher) recoverBack(ctx context.Context, name string, n int64, now time.Time) error {
	ds, err := dp.deps.Queues.Pull(ctx, name, 1)
	if err != nil {
		return fmt.Errorf("frontier: head of queue %s: %w", name, err)
	}
	if len(ds) == 0 {
		dp.mu.Lock()
		dp.stock.short(name, n)
		dp.mu.Unlock()
		dp.stock.backs.give(name)
		return nil
	}
	key := ds[0].Task.URL.HostKey()
	job := ds[0].Task.Job
	_, err = dp.jobOf(ctx, job)
	if h := dp.hosts.of(key); h != nil && h.laneOf(job).work() || crawl.IsPermanent(err) {
		return dp.emptyBack(ctx, name, ds)
	}
	records, err := dp.records(ctx, ds)
	if err != nil {
		return err
	}
	dp.mu.Lock()
	h := dp.hosts.of(key)
	if h == nil {
		h = dp.activate(records[key], ds[0].Task.URL.RegistrableDomain())
	}
	l := h.laneOf(job)
	l.queue, l.buf, l.backlog = name, ds, n-1
	dp.stock.held++
	dp.mu.Unlock()
	return dp.start(ctx, ds, now)
}

// emptyBack moves a second back queue of a host and job to the front queues: a crash leaves one when what was settled
// came back.
func (dp *dispatcher) emptyBack(ctx context.Context, name string, ds []crawl.Delivery) error {
	for len(ds) > 0 {
		if err := dp.sendBack(ctx, ds); err != nil {
			return err
		}
		var err error
		if ds, err = dp.deps.Queues.Pull(ctx, name, dp.cfg.Batch); err != nil {
			return fmt.Errorf("frontier: queue %s: %w", name, err)
		}
	}
	dp.stock.backs.give(name)
	return nil
}
