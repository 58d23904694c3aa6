package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// laterQueue holds the retries of one attempt number. Their delays are alike, so the queue is in the order of their times.
type laterQueue struct {
	count int64           // tasks in the queue, the head included
	head  *crawl.Delivery // the first, pulled; nil: not looked at
}

func laterName(attempt int) string { return fmt.Sprintf("%s%d", laterPrefix, attempt) }

// retryDelay is the wait before the attempt-th repetition: the base, doubled each time.
func retryDelay(j *crawl.Job, attempt int) time.Duration {
	return j.Retry.Base.D() << min(max(attempt-1, 0), 16)
}

// putAside stores a task until its NotBefore.
func (f *Frontier) putAside(ctx context.Context, t crawl.Task) error {
	name := laterName(t.Attempt)
	if err := f.deps.Queues.Push(ctx, crawl.Queued{Queue: name, Task: t}); err != nil {
		return fmt.Errorf("frontier: put %s aside until %v: %w", t.URL, t.NotBefore.Format(time.RFC3339), err)
	}
	f.mu.Lock()
	q := f.later[t.Attempt]
	if q == nil {
		q = &laterQueue{}
		f.later[t.Attempt] = q
	}
	q.count++
	f.queued++
	f.mu.Unlock()
	f.signal()
	return nil
}

// laterDue returns when the first retry that was looked at is due; at once where one was not looked at.
func (f *Frontier) laterDue() (at time.Time, ok bool) {
	for _, q := range f.later {
		switch {
		case q.count == 0:
			continue
		case q.head == nil:
			return time.Time{}, true
		case !ok || q.head.Task.NotBefore.Before(at):
			at, ok = q.head.Task.NotBefore, true
		}
	}
	return at, ok
}

// releaseLater moves the retries that are due to the front queues.
func (f *Frontier) releaseLater(ctx context.Context, now time.Time) (bool, error) {
	f.mu.Lock()
	var attempts []int
	for a, q := range f.later {
		if q.count > 0 && (q.head == nil || !q.head.Task.NotBefore.After(now)) {
			attempts = append(attempts, a)
		}
	}
	f.mu.Unlock()
	for _, a := range attempts {
		if err := f.releaseFrom(ctx, a, now); err != nil {
			return true, err
		}
	}
	return len(attempts) > 0, nil
}

// releaseFrom moves the due tasks of one queue, one by one: retries are few.
func (f *Frontier) releaseFrom(ctx context.Context, attempt int, now time.Time) error {
	for {
		f.mu.Lock()
		q := f.later[attempt]
		head, count := q.head, q.count
		f.mu.Unlock()
		if count == 0 {
			return nil
		}
		if head == nil {
			ds, err := f.deps.Queues.Pull(ctx, laterName(attempt), 1)
			if err != nil {
				return fmt.Errorf("frontier: retries: %w", err)
			}
			f.setLaterHead(q, ds)
			continue
		}
		if head.Task.NotBefore.After(now) {
			return nil
		}
		if err := f.enqueue(ctx, head.Task); err != nil {
			return err
		}
		f.mu.Lock()
		q.head = nil
		q.count--
		f.queued--
		f.mu.Unlock()
		if err := f.deps.Queues.Settle(ctx, *head); err != nil {
			return fmt.Errorf("frontier: settle a retry: %w", err)
		}
	}
}

func (f *Frontier) setLaterHead(q *laterQueue, ds []crawl.Delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(ds) == 0 { // the count was wrong: there is nothing
		f.queued -= q.count
		q.count = 0
		return
	}
	q.head = &ds[0]
}
