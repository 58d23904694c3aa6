package rabbit

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

var _ crawl.QueueLooker = (*Queues)(nil)

// lookTag names the consumer of a look.
const lookTag = "look"

// Look implements crawl.QueueLooker. A broker shows no message that it does not hand out. So the tasks are taken, held
// until all of them were seen, and given back together, which puts them where they were; they are marked as repeats
// from then on. The broker keeps about 2 KB in memory for each that is held. A queue with more than most is left alone
// beyond these.
func (q *Queues) Look(ctx context.Context, name string, most int, each func(*crawl.Task)) (unread int64, err error) {
	if q.lost() {
		return 0, ErrLost
	}
	q.looking.Lock() // tasks that are renewed must not be taken for ones that wait
	defer q.looking.Unlock()
	ch, err := q.session.conn.Channel()
	if err != nil {
		return 0, q.orLost(err)
	}
	defer ch.Close()
	info, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
	var answer *amqp.Error
	if errors.As(err, &answer) && answer.Code == amqp.NotFound {
		return 0, nil // somebody deleted it
	}
	if err != nil {
		return 0, fmt.Errorf("look into queue %s: %w", name, q.orLost(err))
	}
	n := min(info.Messages, most)
	if n == 0 {
		return int64(info.Messages), nil
	}
	if err := showAll(ctx, ch, name, n, each); err != nil {
		return 0, fmt.Errorf("look into queue %s: %w", name, q.orLost(err))
	}
	return int64(info.Messages - n), nil
}

// showAll takes n messages, hands their tasks to each, and gives the messages back.
func showAll(ctx context.Context, ch *amqp.Channel, name string, n int, each func(*crawl.Task)) error {
	if n < 1<<16 { // the protocol counts no further
		if err := ch.Qos(n, 0, false); err != nil {
			return err
		}
	}
	deliveries, err := ch.Consume(name, lookTag, false, true, false, false, nil)
	if err != nil {
		return err
	}
	v := viewer{ch: ch, name: name, each: each}
	err = v.some(ctx, deliveries, n)
	if err := ch.Cancel(lookTag, false); err != nil {
		return err
	}
	for d := range deliveries {
		v.show(&d)
	}
	if v.last > 0 {
		err = errors.Join(err, ch.Nack(v.last, true, true))
	}
	return err
}

// viewer shows the messages of a queue.
type viewer struct {
	ch   *amqp.Channel
	name string
	each func(*crawl.Task)
	last uint64 // delivery tag
}

func (v *viewer) show(d *amqp.Delivery) {
	v.last = d.DeliveryTag
	if t, err := decodeTask(d); err == nil { // who pulls it buries one that is none
		v.each(&t)
	}
}

// some shows n messages, fewer where the queue was purged or deleted meanwhile.
func (v *viewer) some(ctx context.Context, deliveries <-chan amqp.Delivery, n int) error {
	patience := time.NewTimer(streamPatience)
	defer patience.Stop()
	for empty := 0; n > 0; {
		select {
		case d, open := <-deliveries:
			if !open && v.ch.IsClosed() {
				return errConsumerLost
			}
			if !open {
				return nil
			}
			v.show(&d)
			n, empty = n-1, 0
		case <-patience.C:
			info, err := v.ch.QueueDeclarePassive(v.name, true, false, false, false, nil)
			if err != nil {
				return err
			}
			if info.Messages > 0 { // it is slow
				empty = 0
			} else if empty++; empty > 1 { // none was on its way
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		patience.Reset(streamPatience)
	}
	return nil
}
