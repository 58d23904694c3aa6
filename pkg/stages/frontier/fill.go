package frontier

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// hostBuffer is how many tasks of one host are held in memory; more go to its back queue.
const hostBuffer = 256

// fill sees to it that the next task of a host that has any is in its buffer, and returns that task's job.
func (dp *dispatcher) fill(ctx context.Context, h *host) (*jobState, error) {
	dp.mu.Lock()
	dp.turn(h)
	dp.mu.Unlock()
	for len(h.buf) == 0 && h.backlog > 0 {
		if dp.looks.in(h.queue) {
			return nil, errLooked
		}
		if err := dp.pullBack(ctx, h); err != nil {
			return nil, err
		}
	}
	if len(h.buf) == 0 {
		return nil, nil
	}
	return dp.jobOf(ctx, h.buf[0].Task.Job)
}

// pullBack pulls the next tasks of a host from its back queue: fewer where many hosts are active.
func (dp *dispatcher) pullBack(ctx context.Context, h *host) error {
	dp.mu.Lock()
	n := min(max((dp.cfg.MaxHeld-dp.stock.held)/max(len(dp.hosts.active), 1), 1), hostBuffer)
	dp.mu.Unlock()
	ds, err := dp.pull(ctx, h.queue, n)
	if err != nil {
		return fmt.Errorf("frontier: back queue of host %s: %w", h.rec.Key, err)
	}
	pulled := int64(0) // of those that were counted: strays were not
	for i := range ds {
		if ds[i].Task.URL.HostKey() == h.rec.Key && ds[i].Task.Job == h.job {
			pulled++
		}
	}
	none := len(ds) == 0
	ds = dp.dropDiscarded(ctx, ds)
	ds, strays := dp.orphans(ctx, ds)
	own := ds[:0]
	for _, d := range ds {
		if d.Task.URL.HostKey() == h.rec.Key && d.Task.Job == h.job {
			own = append(own, d)
		} else {
			strays = append(strays, d)
		}
	}
	dp.mu.Lock()
	h.buf = append(h.buf[:0], own...)
	h.sort()
	dp.stock.held += len(own)
	if h.backlog -= pulled; none && h.backlog > 0 {
		dp.stock.short(h.queue, h.backlog)
	}
	if none || h.backlog < 0 {
		h.backlog = 0
	}
	dp.mu.Unlock()
	return dp.sendBack(ctx, strays)
}

// shelve moves drawn tasks to front.0, where they lie until the frontier starts again.
func (dp *dispatcher) shelve(ctx context.Context, ds []crawl.Delivery) error {
	if len(ds) == 0 {
		return nil
	}
	items := make([]crawl.Queued, len(ds))
	for i := range ds {
		items[i] = crawl.Queued{Queue: asideQueue, Task: ds[i].Task}
	}
	if err := dp.push(ctx, items); err != nil {
		return fmt.Errorf("frontier: set %d tasks aside: %w", len(items), err)
	}
	dp.mu.Lock()
	dp.stock.setAside(dp.stock.fronts.of(""), int64(len(items)))
	dp.mu.Unlock()
	dp.out.settle(ds...)
	return nil
}

// sendBack moves tasks that lie in the back queue of another host or job to the front queues. A crash leaves some there
// when a queue changed hands and what was settled before came back.
func (dp *dispatcher) sendBack(ctx context.Context, ds []crawl.Delivery) error {
	if ds = append(dp.strays, ds...); len(ds) == 0 {
		return nil
	}
	dp.strays = ds // until they are moved
	if err := dp.enqueue(ctx, true, tasksIn(ds)...); err != nil {
		return err
	}
	dp.requeued(ds)
	dp.strays = nil
	return nil
}

// requeued notes that pulled tasks are queued in another place, and settles them where they came from.
func (dp *dispatcher) requeued(ds []crawl.Delivery) {
	dp.mu.Lock()
	dp.stock.queued -= int64(len(ds))
	dp.mu.Unlock()
	dp.out.settle(ds...)
}

func tasksIn(ds []crawl.Delivery) []crawl.Task {
	tasks := make([]crawl.Task, len(ds))
	for i := range ds {
		tasks[i] = ds[i].Task
	}
	return tasks
}
