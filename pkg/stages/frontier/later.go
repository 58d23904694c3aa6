package frontier

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// laterQueue holds the retries that wait equally long. So the queue is in the order of their times.
type laterQueue struct {
	count int64            // tasks in the queue, the heads included
	more  bool             // the queue is to be looked into, whatever its count
	heads []crawl.Delivery // the first, pulled, at most a batch; none: not looked at
	rests time.Time        // nothing is moved before
}

// due returns when the queue is to be looked into next.
func (q *laterQueue) due() time.Time {
	if len(q.heads) > 0 && q.heads[0].Task.NotBefore.After(q.rests) {
		return q.heads[0].Task.NotBefore
	}
	return q.rests
}

// releaseShare times as long as a batch took its queue rests: what waits for a place is drawn and put off again while
// there is none, and a broker that moves tens of thousands to and fro takes ever more memory.
const releaseShare = 9

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

// releaseFrom moves a batch of the due tasks of one queue. Others are moved in the dispatcher's next turn, so that it
// also does its other work while many come back.
func (dp *dispatcher) releaseFrom(ctx context.Context, number int, now time.Time) error {
	began := time.Now()
	dp.mu.Lock()
	q := dp.stock.later[number]
	heads, count, more := q.heads, q.count, q.more
	dp.mu.Unlock()
	if count == 0 && !more {
		return nil
	}
	if len(heads) == 0 {
		var err error
		if heads, err = dp.pullLater(ctx, number, q, count, now); err != nil || len(heads) == 0 {
			return err
		}
	}
	dp.mu.Lock() // see hurryShutOf
	due := dueOf(number, heads, now)
	dp.mu.Unlock()
	if len(due) == 0 {
		return nil
	}
	if err := dp.releaseDue(ctx, number, due); err != nil {
		dp.mu.Lock()
		defer dp.mu.Unlock()
		for i := range due {
			due[i].Task.Repeat = true // what failed may have been done all the same
		}
		return err
	}
	dp.setLaterHeads(q, heads[len(due):], int64(len(due)))
	if !isShut(number) { // those come one by one, and do not come back soon
		dp.mu.Lock()
		q.rests = time.Now().Add(releaseShare * time.Since(began))
		dp.mu.Unlock()
	}
	if err := dp.deps.Queues.Settle(ctx, due...); err != nil {
		return fmt.Errorf("frontier: settle %d retries: %w", len(due), err)
	}
	return nil
}

// pullLater pulls the first tasks of a queue of retries in which count were reckoned with.
func (dp *dispatcher) pullLater(ctx context.Context, number int, q *laterQueue, count int64,
	now time.Time) ([]crawl.Delivery, error) {
	heads, err := dp.pull(ctx, laterName(number), dp.cfg.Batch)
	if err != nil {
		return nil, fmt.Errorf("frontier: retries: %w", err)
	}
	if len(heads) == 0 {
		dp.mu.Lock()
		dp.stock.laterShort(number, count)
		dp.mu.Unlock()
		return nil, nil
	}
	dp.setLaterHeads(q, heads, min(count-int64(len(heads)), 0)) // those that were not counted are, now
	if isShut(number) {
		err = dp.hurryShut(ctx, heads, now)
	}
	return heads, err
}

// dueOf returns those of pulled tasks, in the order of their times, that are due and are released together. Of shut
// URLs that is one: each may be stored elsewhere (see releaseShut), and none is to be stored twice when another fails.
func dueOf(number int, heads []crawl.Delivery, now time.Time) []crawl.Delivery {
	if isShut(number) {
		heads = heads[:1]
	}
	if i := slices.IndexFunc(heads, func(d crawl.Delivery) bool { return d.Task.NotBefore.After(now) }); i >= 0 {
		return heads[:i]
	}
	return heads
}

// releaseDue queues tasks whose time has come, but for what was discarded.
func (dp *dispatcher) releaseDue(ctx context.Context, number int, ds []crawl.Delivery) error {
	roll := rollCall{f: dp.Frontier}
	var tasks []crawl.Task
	for i := range ds {
		t := &ds[i].Task
		if !roll.discarded(ctx, t) {
			tasks = append(tasks, *t)
		}
		if dp.deps.Quiet != nil && roll.err != nil && !crawl.IsPermanent(roll.err) { // see enqueue
			return roll.err
		}
	}
	if isShut(number) && len(tasks) > 0 {
		return dp.releaseShut(ctx, tasks[0])
	}
	return dp.enqueue(ctx, false, tasks...)
}

// setLaterHeads notes the pulled tasks of a queue that has so many tasks fewer.
func (dp *dispatcher) setLaterHeads(q *laterQueue, ds []crawl.Delivery, gone int64) {
	dp.mu.Lock()
	defer dp.mu.Unlock()
	dp.stock.setHeads(q, ds, gone)
}
