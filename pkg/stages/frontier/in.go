package frontier

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// In is the handler of frontier.in: it stores fresh tasks in the front queues.
type In struct{ f *Frontier }

// In returns the handler of new tasks.
func (f *Frontier) In() In { return In{f} }

// Handle implements pipeline.Handler. The tasks of a message that was delivered before may be queued already. Those of
// hosts of other nodes go on to these.
func (in In) Handle(ctx context.Context, e *crawl.Fresh) ([]crawl.Event, error) {
	own, others := in.f.duties.byOwner(e.Tasks)
	own = in.f.worthwhile(own)
	if err := in.f.enqueue(ctx, pipeline.DeliveryOf(ctx).Repeat, own...); err != nil {
		return nil, err
	}
	return others, nil
}

// worthwhile leaves out second tasks of URLs that were found again where little waits: the first ones' turns are near.
func (f *Frontier) worthwhile(tasks []crawl.Task) []crawl.Task {
	for i := range tasks {
		if tasks[i].Finds == 0 {
			continue
		}
		f.mu.Lock()
		few := f.stock.queued < hostBuffer
		f.mu.Unlock()
		if few {
			kept, _ := split(tasks, func(t *crawl.Task) bool { return t.Finds == 0 })
			return kept
		}
		break
	}
	return tasks
}

// enqueue appends tasks to the front queues of their priorities. repeat says that they may be queued already.
func (f *Frontier) enqueue(ctx context.Context, repeat bool, tasks ...crawl.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	if f.deps.Quiet != nil { // a job that goes on may be crawled level by level
		if _, err := f.jobOf(ctx, tasks[0].Job); err != nil && !crawl.IsPermanent(err) {
			return err
		}
	}
	tasks, err := f.scored(tasks)
	if err != nil {
		return err
	}
	items := make([]crawl.Queued, len(tasks))
	f.mu.Lock()
	for i, t := range tasks {
		t.Priority, t.Lease, t.Repeat = clampPriority(t.Priority), 0, t.Repeat || repeat
		js := f.jobs.of(t.Job)
		if js != nil && js.places.has(&t) {
			t.Priority = crawl.MaxPriority
			if t.Promising() {
				t.Promise = crawl.RelevanceOf(1)
			}
		}
		queue, wait := f.level(js, &t)
		if !wait {
			queue = f.stock.fronts.jobs(t.Job).queue(t.FrontNumber())
		}
		items[i] = crawl.Queued{Queue: queue, Task: t}
	}
	f.mu.Unlock()
	f.doubted.note(items)
	if err := f.push(ctx, items); err != nil {
		return fmt.Errorf("frontier: queue %d tasks, the first %s: %w", len(tasks), tasks[0].URL, err)
	}
	f.mu.Lock()
	if f.stock.queuedFronts(items) || f.better(items) { // its turn is not to wait for a draw that others need not hurry
		f.bench.pacer.reset()
	}
	f.mu.Unlock()
	f.signal()
	return nil
}
