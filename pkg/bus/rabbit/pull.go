package rabbit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// puller pulls tasks over one channel. They stay unacknowledged until they are settled.
type puller struct {
	vhost  *vhost
	number uint64 // among the pullers; receipts end with it
	load   int    // tasks that it pulled or is to pull, and that are not settled; pullers.mu guards it

	mu       sync.Mutex
	ch       *amqp.Channel
	prefetch int
	pulled   map[uint64]*pulledTask // by receipt
	receipts uint64                 // given out
}

// pulledTask is what is known of a task that is pulled and not settled.
type pulledTask struct {
	queue   string
	message string // its message_id
	tag     uint64
	since   time.Time
}

// getUpTo is the number of tasks up to which basic.get for each costs less than a consumer, which takes three round
// trips to start and end (BenchmarkPull).
const getUpTo = 6

// pull takes up to n tasks from the head of a queue.
func (p *puller) pull(ctx context.Context, queue string, n int) ([]crawl.Delivery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []crawl.Delivery
	for len(out) < n && ctx.Err() == nil {
		d, ok, err := p.ch.Get(queue, false)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		out = p.take(ctx, out, queue, &d)
		if rest := min(n-len(out), int(d.MessageCount)); rest > getUpTo {
			if out, err = p.stream(ctx, out, queue, rest); err != nil {
				return nil, err
			}
		} else if d.MessageCount == 0 {
			break
		}
	}
	return out, nil
}

// streamPatience bounds the wait for the next of several tasks that the broker said it has.
const streamPatience = time.Second

// stream takes n tasks that are there by a consumer that may have n unacknowledged messages and no more.
func (p *puller) stream(ctx context.Context, out []crawl.Delivery, queue string, n int) ([]crawl.Delivery, error) {
	n = min(n, 1<<15)
	if n != p.prefetch {
		if err := p.ch.Qos(n, 0, false); err != nil {
			return nil, err
		}
		p.prefetch = n
	}
	const tag = "pull"
	deliveries, err := p.ch.Consume(queue, tag, false, true, false, false, nil)
	if err != nil {
		return nil, err
	}
	got := make([]amqp.Delivery, 0, n)
	patience := time.NewTimer(streamPatience)
	defer patience.Stop()
	for len(got) < n {
		select {
		case d, open := <-deliveries:
			if !open {
				return nil, errConsumerLost
			}
			got = append(got, d)
			continue
		case <-patience.C:
		}
		break
	}
	if err := p.ch.Cancel(tag, false); err != nil {
		return nil, err
	}
	for d := range deliveries {
		got = append(got, d)
	}
	for i := range got {
		out = p.take(ctx, out, queue, &got[i])
	}
	return out, nil
}

// take adds a message to what is pulled. One that is no task is buried, or stays where it cannot be.
func (p *puller) take(ctx context.Context, out []crawl.Delivery, queue string, d *amqp.Delivery) []crawl.Delivery {
	task, err := decodeTask(d)
	if err != nil {
		p.vhost.cfg.Log.Error("a task that cannot be read goes into the dead letters", "queue", queue, "error", err)
		if p.vhost.publishing.bury(ctx, queue, d, err) != nil {
			_ = d.Nack(false, true)
		} else {
			_ = d.Ack(false)
		}
		return out
	}
	p.receipts++
	receipt := p.receipts*maxPullers + p.number
	p.pulled[receipt] = &pulledTask{queue: queue, message: d.MessageId, tag: d.DeliveryTag, since: time.Now()}
	return append(out, crawl.Delivery{Task: task, Queue: queue, Receipt: receipt})
}

// settle acknowledges what a receipt stands for. settled: it was not before.
func (p *puller) settle(receipt uint64) (settled bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.pulled[receipt]
	if t == nil {
		return false, nil
	}
	delete(p.pulled, receipt)
	return true, p.ch.Ack(t.tag, false)
}

// The broker closes a channel on which a message stays unacknowledged for longer than its consumer_timeout, 30 minutes
// by default. The frontier holds tasks for longer: those of slow hosts, and retries. So tasks pulled that long ago are
// given back and pulled again, at the same place of the queue and with the same receipts.
const (
	renewAfter = 12 * time.Minute
	renewEvery = time.Minute
)

// run renews what was pulled long ago, until ctx is done.
func (q *Queues) run(ctx context.Context) {
	defer close(q.ended)
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.session.lost:
			return
		case <-tick.C:
		}
		for _, p := range q.pullers.all() {
			if err := q.renew(p, renewAfter); err != nil && ctx.Err() == nil {
				q.v.cfg.Log.Error("tasks that wait for long could not be renewed: the frontier starts again", "error", err)
				_ = p.ch.Close() // voids the receipts, which every later call says
			}
		}
		if err := q.sweep(unusedAfter); err != nil && ctx.Err() == nil {
			q.v.cfg.Log.Warn("queues that nobody uses could not be deleted; they stay, and cost the broker memory", "error", err)
		}
	}
}

// renew gives back, and pulls again, all tasks that p has of the queues of which it pulled one so long ago.
func (q *Queues) renew(p *puller, after time.Duration) error {
	q.looking.Lock()
	defer q.looking.Unlock()
	for _, queue := range p.old(after) {
		turn := q.pullers.turn(queue) // who pulled from the queue meanwhile would get what is given back
		turn.Lock()
		err := p.renew(queue)
		turn.Unlock()
		if err != nil {
			return fmt.Errorf("queue %s: %w", queue, err)
		}
	}
	return nil
}

// old lists the queues that have a task pulled so long ago.
func (p *puller) old(after time.Duration) (queues []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.pulled {
		if time.Since(t.since) >= after {
			queues = append(queues, t.queue)
		}
	}
	slices.Sort(queues)
	return slices.Compact(queues)
}

var errNotBack = errors.New("a task that was given back did not come again")

// renew gives back the puller's tasks of a queue and pulls them again. The broker puts them back at the head, where
// those of other pullers are not, so the next tasks it delivers are the same ones.
func (p *puller) renew(queue string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	byMessage := map[string][]*pulledTask{}
	given := 0
	for _, t := range p.pulled {
		if t.queue != queue {
			continue
		}
		given++
		byMessage[t.message] = append(byMessage[t.message], t)
		if err := p.ch.Nack(t.tag, false, true); err != nil {
			return err
		}
	}
	for range given {
		d, ok, err := p.ch.Get(queue, false)
		if err != nil {
			return err
		}
		same := byMessage[d.MessageId]
		if !ok || len(same) == 0 {
			return errNotBack
		}
		same[0].tag, same[0].since = d.DeliveryTag, time.Now()
		byMessage[d.MessageId] = slices.Delete(same, 0, 1)
	}
	return nil
}
