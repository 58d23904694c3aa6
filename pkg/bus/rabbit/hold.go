package rabbit

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// held is a message that is answered later than its handler returns. It implements bus.Held.
type held struct {
	h      *handling
	rested atomic.Bool
	over   atomic.Bool
}

// Hold implements bus.Holder.
func (h *handling) Hold() bus.Held {
	if !h.ended.CompareAndSwap(false, true) {
		panic("rabbit: Hold of a message that has its end")
	}
	h.sub.running.Add(1)
	h.sub.held.Add(1)
	return &held{h: h}
}

// Rest implements bus.Held.
func (o *held) Rest() {
	if o.rested.CompareAndSwap(false, true) {
		o.h.sub.running.Done()
	}
}

// End implements bus.Held. It may wait for the broker.
func (o *held) End(err error) {
	o.end(func() { o.h.c.dispose(o.h.sub, o.h.j, o.h.attempt, err) })
}

// GiveBack implements bus.Held.
func (o *held) GiveBack() { o.end(o.h.j.giveBack) }

func (o *held) end(how func()) {
	if !o.over.CompareAndSwap(false, true) {
		return
	}
	how()
	o.Rest()
	o.h.sub.held.Done()
}

// Retry publishes a message to the retries of its topic, to be handled after a delay; m.Attempt counts the failure
// already. It returns when the broker has confirmed it.
func (b *Bus) Retry(ctx context.Context, m bus.Message, after time.Duration) error {
	v, p, err := b.lone(m)
	if err != nil {
		return err
	}
	p.Headers = withNumber(p.Headers, headerAttempt, int64(m.Attempt))
	p.Headers[headerDue] = time.Now().Add(min(after, maxHold)).UnixMilli()
	return v.publishing.publish(ctx, []outgoing{{m.Topic() + retrySuffix, p}})
}

// Bury publishes a message to the dead letters, with the reason. It returns when the broker has confirmed it.
func (b *Bus) Bury(ctx context.Context, m bus.Message, cause error) error {
	v, p, err := b.lone(m)
	if err != nil {
		return err
	}
	b.cfg.Log.Error("message put into the dead letters; `whirlpool replay` delivers it again", "topic", m.Topic(),
		"id", m.ID, "reason", cause)
	d := amqp.Delivery{Headers: p.Headers, MessageId: p.MessageId, Type: p.Type, ContentType: p.ContentType,
		Timestamp: p.Timestamp, Body: p.Body}
	return v.publishing.bury(ctx, m.Topic(), &d, cause)
}

// lone encodes a message that travels alone, and names the vhost of its topic.
func (b *Bus) lone(m bus.Message) (*vhost, amqp.Publishing, error) {
	p, err := encode(m)
	if err != nil {
		return nil, p, fmt.Errorf("rabbit: message %v: %w", m.ID, err)
	}
	i, err := b.indexOf(m.Topic())
	if err != nil {
		return nil, p, err
	}
	return b.vhosts[i], p, nil
}
