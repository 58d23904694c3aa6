package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// laterQueue holds the retries that wait equally long. So the queue is in the order of their times.
type laterQueue struct {
	count int64           // tasks in the queue, the head included
	more  bool            // the queue is to be looked into, whatever its count
	head  *crawl.Delivery // the first, pulled; nil: not looked at
}

// laterNumber names the queue of tasks that wait for d: its milliseconds. Delays are a base times a power of two, so
// there are few.
func laterNumber(d time.Duration) int { return int(d.Milliseconds()) }

func laterName(number int) string {
	return crawl.QueueName{Kind: crawl.QueueLater, Number: number}.String()
}

// retryDelay is the wait before the attempt-th repetition: the base, doubled each time.
func retryDelay(j *crawl.Job, attempt int) time.Duration {
	return j.Retry.Base.D() << min(max(attempt-1, 0), 16)
}

// namesPause is the least wait after a name server failed. The fetcher remembers the failure for a second: earlier
// attempts would not ask the name server again, and one failure would use up all attempts of a URL.
const namesPause = 2 * time.Second

// delayAfter is retryDelay after a certain failure.
func delayAfter(out *crawl.Outcome, j *crawl.Job, attempt int) time.Duration {
	if out.Reason == crawl.ReasonDNS {
		return max(retryDelay(j, attempt), namesPause)
	}
	return retryDelay(j, attempt)
}

// putAside stores a task for its next attempt. An attempt that failed by our own trouble is not counted.
func (f *Frontier) putAside(ctx context.Context, t crawl.Task, r *result) error {
	wait := delayAfter(&r.Outcome, r.job, 1)
	if !r.ours {
		t.Attempt++
		wait = delayAfter(&r.Outcome, r.job, t.Attempt)
	}
	t.NotBefore, t.Lease = r.now.Add(wait), 0
	return f.pushLater(ctx, wait, t)
}

// delay stores tasks that are to wait for d, whatever they are waiting for.
func (f *Frontier) delay(ctx context.Context, tasks []crawl.Task, d time.Duration, now time.Time) error {
	for i := range tasks {
		tasks[i].NotBefore = now.Add(d)
	}
	return f.pushLater(ctx, d, tasks...)
}

func (f *Frontier) pushLater(ctx context.Context, wait time.Duration, tasks ...crawl.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	if err := f.pushLaterAs(ctx, laterNumber(wait), tasks...); err != nil {
		return fmt.Errorf("%w (for %v)", err, wait)
	}
	return nil
}

func (f *Frontier) pushLaterAs(ctx context.Context, number int, tasks ...crawl.Task) error {
	items := make([]crawl.Queued, len(tasks))
	for i, t := range tasks {
		items[i] = crawl.Queued{Queue: laterName(number), Task: t}
	}
	f.doubted.note(items)
	if err := f.push(ctx, items); err != nil {
		return fmt.Errorf("frontier: put %d tasks, the first %s, aside: %w", len(tasks), tasks[0].URL, err)
	}
	f.mu.Lock()
	f.stock.queuedLater(number, len(tasks))
	f.mu.Unlock()
	f.signal()
	return nil
}

// releaseLater moves the retries that are due to the front queues.
func (dp *dispatcher) releaseLater(ctx context.Context, now time.Time) (bool, error) {
	dp.mu.Lock()
	numbers := dp.stock.dueLater(now)
	dp.mu.Unlock()
	for _, n := range numbers {
		if err := dp.releaseFrom(ctx, n, now); err != nil {
			return true, err
		}
	}
	return len(numbers) > 0, nil
}

// releaseFrom moves the due tasks of one queue, one by one: retries are few.
func (dp *dispatcher) releaseFrom(ctx context.Context, number int, now time.Time) error {
	for {
		dp.mu.Lock()
		q := dp.stock.later[number]
		head, count, more := q.head, q.count, q.more
		dp.mu.Unlock()
		switch {
		case count == 0 && !more:
			return nil
		case head == nil:
			ds, err := dp.pull(ctx, laterName(number), 1)
			if err != nil {
				return fmt.Errorf("frontier: retries: %w", err)
			}
			if len(ds) == 0 {
				dp.mu.Lock()
				dp.stock.laterShort(number, count)
				dp.mu.Unlock()
				return nil
			}
			dp.setLaterHead(q, &ds[0], min(count-1, 0)) // one that was not counted is, now
			continue
		case head.Task.NotBefore.After(now):
			return nil
		}
		if err := dp.releaseTask(ctx, number, head.Task); err != nil {
			return err
		}
		dp.setLaterHead(q, nil, 1)
		if err := dp.deps.Queues.Settle(ctx, *head); err != nil {
			return fmt.Errorf("frontier: settle a retry: %w", err)
		}
	}
}

// setLaterHead notes the pulled head of a queue that has so many tasks fewer.
func (dp *dispatcher) setLaterHead(q *laterQueue, d *crawl.Delivery, gone int64) {
	dp.mu.Lock()
	defer dp.mu.Unlock()
	dp.stock.setHead(q, d, gone)
}
