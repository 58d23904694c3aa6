package frontier

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// In is the handler of frontier.in: it stores fresh tasks in the front queues.
type In struct{ f *Frontier }

// In returns the handler of new tasks.
func (f *Frontier) In() In { return In{f} }

// Handle implements stage.Handler.
func (in In) Handle(ctx context.Context, e *crawl.Fresh) ([]crawl.Event, error) {
	return nil, in.f.enqueue(ctx, e.Tasks...)
}

// enqueue appends tasks to the front queues of their priorities.
func (f *Frontier) enqueue(ctx context.Context, tasks ...crawl.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	items := make([]crawl.Queued, len(tasks))
	for i, t := range tasks {
		t.Priority = clampPriority(t.Priority)
		items[i] = crawl.Queued{Queue: frontQueue(t.Priority), Task: t}
	}
	if err := f.deps.Queues.Push(ctx, items...); err != nil {
		return fmt.Errorf("frontier: queue %d tasks, the first %s: %w", len(tasks), tasks[0].URL, err)
	}
	f.mu.Lock()
	for _, it := range items {
		f.fronts[it.Task.Priority]++
	}
	f.queued += int64(len(items))
	f.mu.Unlock()
	f.signal()
	return nil
}
