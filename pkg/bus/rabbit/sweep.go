package rabbit

import (
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// unusedAfter is how long a queue is not used until it is deleted, if it is empty. Each job has queues of its own, so a
// frontier that runs for months would leave thousands, of some ten KB of the broker's memory each.
const unusedAfter = time.Hour

// sweepMost bounds the queues of one sweep: to delete one costs the broker some ms.
const sweepMost = 100

// sweep deletes the empty queues of hosts, retries and single jobs that were not used for so long. They are declared
// again when they are.
func (q *Queues) sweep(unused time.Duration) (err error) {
	q.looking.Lock()
	defer q.looking.Unlock()
	names := q.unused(unused)
	if len(names) == 0 || q.lost() {
		return nil
	}
	ch, err := q.session.conn.Channel()
	if err != nil {
		return err
	}
	defer func() { _ = ch.Close() }()
	for _, name := range names {
		if err := q.sweepOne(ch, name); err == nil {
			continue
		} else if refused := new(amqp.Error); !errors.As(err, &refused) || refused.Code != amqp.PreconditionFailed &&
			refused.Code != amqp.NotFound {
			return fmt.Errorf("delete the empty queue %s: %w", name, err)
		}
		// somebody pushed meanwhile, or deleted it: the broker has closed the channel
		if ch, err = q.session.conn.Channel(); err != nil {
			return err
		}
	}
	return nil
}

// unused lists queues that were not used for so long, and notes that they are looked at now.
func (q *Queues) unused(since time.Duration) (names []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name, at := range q.made {
		if len(names) < sweepMost && !stays(name) && time.Since(at) >= since {
			names = append(names, name)
			q.made[name] = time.Now()
		}
	}
	return names
}

// sweepOne deletes a queue where it holds nothing and nothing of it is held. Nobody pushes to it meanwhile: the broker
// would confirm a message that is on its way to a queue when that is deleted, as if the queue had it.
func (q *Queues) sweepOne(ch *amqp.Channel, name string) error {
	turn := q.pullers.turn(name)
	turn.Lock()
	defer turn.Unlock()
	if q.pullers.holds(name) { // the broker would not count these
		return nil
	}
	info, err := ch.QueueDeclarePassive(name, true, false, false, false, nil) // fails where somebody deleted it
	if err != nil || info.Messages > 0 {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pushing[name] > 0 {
		return nil
	}
	delete(q.made, name)
	_, err = ch.QueueDelete(name, true, true, false)
	return err
}
