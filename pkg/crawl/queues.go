package crawl

import "context"

// Queues are the frontier's named, durable FIFO queues: RabbitMQ's, or the local store's. Names consist of [a-z0-9.-],
// for example front.3 and back.17.
type Queues interface {
	// Push appends each task to its queue; all are durable when it returns.
	Push(ctx context.Context, items ...Queued) error
	// Pull takes up to n tasks from the head and does not wait for more. A task that is never settled comes back at the
	// head, marked Repeat, when the program starts again.
	Pull(ctx context.Context, queue string, n int) ([]Delivery, error)
	// Settle removes pulled tasks for good. It may do so a little later: a task that comes back once too often does no
	// harm.
	Settle(ctx context.Context, ds ...Delivery) error
	// Lengths returns the length of every queue that is not empty, pulled and unsettled tasks included.
	Lengths(ctx context.Context) (map[string]int64, error)
}

// Queued is a task on its way into a queue.
type Queued struct {
	Queue string
	Task  Task
}

// Delivery is a pulled task. Receipt is the queue's own.
type Delivery struct {
	Task    Task
	Queue   string
	Receipt uint64
}
