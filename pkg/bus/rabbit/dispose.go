package rabbit

import (
	"context"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

const (
	// maxRedeliveries is how many deliveries may end without an answer before the message is buried: it seems to kill whoever
	// handles it. A restart of a program counts for the messages that it had taken, so the bound is generous.
	maxRedeliveries = 20
	// maxHold bounds the wait for a retry. The broker closes a channel that leaves a message unanswered for consumer_timeout
	// (30 minutes unless configured).
	maxHold = 10 * time.Minute
)

// handle handles an event and says to the broker what became of it. What it says nothing about comes back.
func (c *consumer) handle(sub *subscription, j *job) {
	d := &j.Delivery
	if d.Redelivered {
		c.settle(sub, j, c.countRedelivery(sub.handlers, d))
		return
	}
	m, err := decode(c.topic, d)
	if err != nil {
		c.settle(sub, j, c.bury(sub.handlers, d, err))
		return
	}
	err = c.handler(sub.handlers, m)
	switch retry, after := bus.Disposition(err, m.Attempt); {
	case err == nil:
		c.settle(sub, j, nil)
	case sub.handlers.Err() != nil: // cut off: it says nothing about the message
		j.abandon()
	case retry:
		c.settle(sub, j, c.retry(sub.handlers, d, m.Attempt+1, after))
	default:
		c.settle(sub, j, c.bury(sub.handlers, d, err))
	}
}

// settle acknowledges an event, unless what had to be stored before was not. An acknowledgement that does not arrive brings
// the message back.
func (c *consumer) settle(sub *subscription, j *job, err error) {
	if err != nil {
		if sub.handlers.Err() == nil {
			c.log.Error("a message was not settled and comes back", "id", j.MessageId, "error", err)
		}
		j.abandon()
		return
	}
	j.done()
}

// countRedelivery replaces a message that was delivered before and not answered by a copy that says so, a bundle by a copy of each of its
// events. The copy comes at once; the count survives whatever it kills.
func (c *consumer) countRedelivery(ctx context.Context, d *amqp.Delivery) error {
	n := number(d.Headers, headerRedeliveries) + 1
	if n >= maxRedeliveries {
		return c.bury(ctx, d, fmt.Errorf("delivered %d times without an answer: does it kill the program?", n))
	}
	return c.publishing.publish(ctx, again(d, c.topic+retrySuffix, amqp.Table{headerRedeliveries: n}))
}

// retry puts a copy into the topic's retry queue, to be handled after the delay.
func (c *consumer) retry(ctx context.Context, d *amqp.Delivery, attempt int, after time.Duration) error {
	p := copyOf(d)
	p.Headers[headerAttempt] = int64(attempt)
	p.Headers[headerDue] = time.Now().Add(min(after, maxHold)).UnixMilli()
	return c.publishing.publish(ctx, []outgoing{{c.topic + retrySuffix, p}})
}

// bury puts a copy into the dead letters, its bytes as they are.
func (c *consumer) bury(ctx context.Context, d *amqp.Delivery, cause error) error {
	c.log.Error("message put into the dead letters; `whirlpool replay` delivers it again", "id", d.MessageId, "reason", cause)
	return c.publishing.bury(ctx, c.topic, d, cause)
}

func (p *publisher) bury(ctx context.Context, topic string, d *amqp.Delivery, cause error) error {
	msg := copyOf(d)
	delete(msg.Headers, headerDue)
	msg.Headers[headerTopic], msg.Headers[headerReason] = topic, cut(cause.Error())
	msg.Headers[headerAt] = time.Now().UnixMilli()
	return p.publish(ctx, []outgoing{{deadQueue, msg}})
}

// maxReason bounds a reason in bytes: all headers of a message must fit into one frame.
const maxReason = 4096

func cut(s string) string {
	if len(s) > maxReason {
		return s[:maxReason]
	}
	return s
}
