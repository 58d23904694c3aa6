package direct

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// errNotHeld says that the broker cannot wait for a message.
var errNotHeld = errors.New("direct: the broker's handlers have no bus.Holder")

// Consume implements bus.Bus. One pool of workers handles what comes over the broker and what is handed on. When ctx
// ends, nothing more is begun: roots go back to the broker and parts of trees are published there.
func (b *Bus) Consume(ctx context.Context, name string, w bus.Workers, h bus.Handler) error {
	if err := w.Validate(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	life, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	c := &consumer{bus: b, topic: b.topic(name), handler: h, life: life}
	c.topic.open()
	var side sync.WaitGroup
	side.Go(func() {
		<-ctx.Done()
		grace := time.AfterFunc(b.cfg.Grace, cut)
		context.AfterFunc(life, func() { grace.Stop() })
		if c.topic.close() {
			c.drain()
		}
	})
	var err error
	side.Go(func() {
		err = b.broker.Consume(ctx, name, w, c.take)
		stop()
	})
	bus.RunPool(ctx, w, c.topic.queue, c.handle) //nolint:contextcheck // handlers outlive ctx by the grace
	side.Wait()
	return err
}

// consumer is one call of Consume.
type consumer struct {
	bus     *Bus
	topic   *topic
	handler bus.Handler
	life    context.Context //nolint:containedctx // of the handlers of parts
}

// take makes a tree of a message of the broker, and puts it in. The broker's worker waits for room, so it holds no more
// than that.
func (c *consumer) take(ctx context.Context, m bus.Message) error {
	by, ok := ctx.Value(bus.HoldKey{}).(bus.Holder)
	if !ok {
		return crawl.Permanent(fmt.Errorf("topic %s: %w", c.topic.name, errNotHeld))
	}
	held := by.Hold()
	o := origin{c.topic.name, m.ID}
	if m.Redelivered && c.bus.trees.join(o, m.Event, held) {
		return nil
	}
	t := &tree{origin: o, event: m.Event, plain: !c.topic.root || doubted(&m), life: c.life, held: []bus.Held{held},
		pending: 1}
	c.bus.trees.add(t)
	if c.topic.put(ctx, delivery{msg: m, tree: t, ctx: ctx}) != nil {
		c.bus.fail(t, bus.Held.GiveBack)
		c.bus.end(t)
	}
	return nil
}

// doubted reports whether a message may have been handled before.
func doubted(m *bus.Message) bool {
	if m.Redelivered || m.Attempt > 0 {
		return true
	}
	e, ok := m.Event.(crawl.Doubted)
	return ok && e.Doubted()
}

// drain gives back the roots that nobody will begin, and brings parts of trees into the broker.
func (c *consumer) drain() {
	for {
		select {
		case d := <-c.topic.queue:
			c.leave(d)
		default:
			return
		}
	}
}

func (c *consumer) leave(d delivery) {
	switch b := c.bus; {
	case d.ctx != nil:
		b.fail(d.tree, bus.Held.GiveBack)
		b.end(d.tree)
	case c.topic.bounded:
		if err := b.broker.Publish(c.life, d.msg); err != nil {
			d.tree.suffer(err)
		}
		b.done(d.tree, c.topic)
	default:
		b.postpone(d.tree, c.topic, d.msg)
	}
}

// handling is the context of a handler. It knows its tree, and how to do without the handler's return.
type handling struct {
	context.Context
	c      *consumer
	d      delivery
	detach func()
	ended  atomic.Bool
}

// Value implements context.Context.
func (h *handling) Value(key any) any {
	switch key.(type) {
	case treeKey:
		return h.d.tree
	case bus.AbandonKey:
		return h
	case bus.HoldKey:
		return nil
	}
	return h.Context.Value(key)
}

// Abandon implements bus.Abandoner. What becomes of the message may wait for the broker, so it does not wait for that.
func (h *handling) Abandon(err error) bool {
	if !h.ended.CompareAndSwap(false, true) {
		return false
	}
	h.detach()
	go h.c.dispose(h.d, err)
	return true
}

// Life implements bus.Abandoner.
func (h *handling) Life() context.Context {
	if by, ok := h.Context.Value(bus.AbandonKey{}).(bus.Abandoner); ok && h.d.ctx != nil {
		return by.Life()
	}
	return h.Context
}

// handle handles a message. The context of a root's handler ends with its connection, since the broker delivers the
// root to others then.
func (c *consumer) handle(d delivery, detach func()) {
	ctx := c.life
	if d.ctx != nil {
		ctx = d.ctx
	}
	if ctx.Err() != nil {
		c.dispose(d, ctx.Err())
		return
	}
	one := &handling{Context: ctx, c: c, d: d, detach: detach}
	err := c.handler(one, d.msg)
	if one.ended.CompareAndSwap(false, true) {
		c.dispose(d, err)
	}
}

// dispose does with a message what its handler's error asks for.
func (c *consumer) dispose(d delivery, err error) {
	b, t := c.bus, d.tree
	if d.ctx != nil {
		if err == nil {
			t.rest()
		} else {
			b.fail(t, func(h bus.Held) { h.End(err) })
		}
		b.end(t)
		return
	}
	if err != nil {
		if err = c.putAway(d.msg, err); err != nil {
			b.cfg.Log.Warn("what grew from a message could not be kept: the message is handled again", "topic", c.topic.name,
				"id", d.msg.ID, "error", err)
			t.suffer(err)
		}
	}
	b.done(t, c.topic)
}

// putAway brings a part whose handler failed into the broker: to the retries or the dead letters.
func (c *consumer) putAway(m bus.Message, cause error) error {
	if err := c.life.Err(); err != nil {
		return err
	}
	if retry, after := bus.Disposition(cause, m.Attempt); retry {
		m.Attempt = bus.Failed(cause, m.Attempt)
		return c.bus.broker.Retry(c.life, m, after)
	}
	return c.bus.broker.Bury(c.life, m, cause)
}
