package rabbit

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

const (
	// maxRedeliveries is how many deliveries may end without an answer before the message is buried, because it seems
	// to crash its handlers. A restart counts against every message that the program held, so the bound is generous.
	maxRedeliveries = 20
	// maxHold bounds the wait for a retry. The broker closes a channel that leaves a message unanswered for
	// consumer_timeout (30 minutes unless configured).
	maxHold = 10 * time.Minute
)

// handling is the context of a handler. It knows how to do without the handler's return (bus.Abandoner), and how to
// answer the message later (bus.Holder).
type handling struct {
	context.Context
	c       *consumer
	sub     *subscription
	j       *job
	attempt int
	detach  func()
	ended   atomic.Bool
}

// Value implements context.Context.
func (h *handling) Value(key any) any {
	switch key.(type) {
	case bus.AbandonKey, bus.HoldKey:
		return h
	}
	return h.Context.Value(key)
}

// Life implements bus.Abandoner.
func (h *handling) Life() context.Context { return h.Context }

// Abandon implements bus.Abandoner. What becomes of the message may wait for the broker, so it does not wait for that.
func (h *handling) Abandon(err error) bool {
	if !h.ended.CompareAndSwap(false, true) {
		return false
	}
	h.detach()
	go h.c.dispose(h.sub, h.j, h.attempt, err)
	return true
}

// handle handles an event and says to the broker what became of it. What it says nothing about comes back.
func (c *consumer) handle(sub *subscription, j *job, detach func()) {
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
	one := &handling{Context: sub.handlers, c: c, sub: sub, j: j, attempt: m.Attempt, detach: detach}
	if err = c.handler(one, m); one.ended.CompareAndSwap(false, true) {
		c.dispose(sub, j, m.Attempt, err)
	}
}

// dispose does with an event what its handler's error asks for.
func (c *consumer) dispose(sub *subscription, j *job, attempt int, err error) {
	switch retry, after := bus.Disposition(err, attempt); {
	case err == nil:
		c.settle(sub, j, nil)
	case sub.handlers.Err() != nil: // cut off: it says nothing about the message
		j.abandon()
	case retry:
		c.settle(sub, j, c.retry(sub.handlers, &j.Delivery, bus.Failed(err, attempt), after))
	default:
		c.settle(sub, j, c.bury(sub.handlers, &j.Delivery, err))
	}
}

// settle acknowledges an event if everything that had to be stored first was stored. If the acknowledgement is lost the
// message is delivered again.
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

// countRedelivery replaces a message that was delivered before without an answer by a copy with a higher count, a
// bundle by a copy of each of its events. The copy is published before the event is handled, so the count survives a
// crash of the handler.
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
	c.log.Error("message put into the dead letters; `whirlpool replay` delivers it again", "id", d.MessageId,
		"reason", cause)
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
