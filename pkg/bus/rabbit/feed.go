package rabbit

import (
	"fmt"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"
)

// prefetch is how many messages may be without an answer: those being handled, those that wait for a worker, and those
// that are held.
func (c *consumer) prefetch() int {
	held, most := c.cfg.Held, c.workers.Most()
	if bundled(c.topic) {
		held = (held + c.cfg.Bundle - 1) / c.cfg.Bundle
	}
	return max(most+min(most, spare)+held, 1)
}

// feed is a consumer of the broker's.
type feed struct {
	tag  string
	over atomic.Bool // it was ended on purpose
}

// subscribe starts the consumers of the topic and of its retries.
func (c *consumer) subscribe(sub *subscription) error {
	closed := sub.ch.NotifyClose(make(chan *amqp.Error, 1))
	go func() {
		for range closed {
		}
		sub.stop()
		sub.end()
	}()
	sub.mu.Lock()
	defer sub.mu.Unlock()
	return c.feed(sub)
}

// feed starts the consumers of the topic and of its retries, with the prefetch that is right now.
func (c *consumer) feed(sub *subscription) error {
	sub.prefetch = c.prefetch()
	if err := sub.ch.Qos(sub.prefetch, 0, false); err != nil {
		return fmt.Errorf("set the prefetch: %w", err)
	}
	for _, queue := range []string{c.topic, c.topic + retrySuffix} {
		f := &feed{tag: c.cfg.Program + " " + queue}
		deliveries, err := sub.ch.Consume(queue, f.tag, false, false, false, false, nil)
		if err != nil {
			return fmt.Errorf("consume queue %s: %w", queue, err)
		}
		sub.feeds = append(sub.feeds, f)
		sub.readers.Go(func() {
			for d := range deliveries {
				sub.put(d)
			}
			if !f.over.Load() {
				sub.stop() // the broker ends a consumer whose queue is deleted
			}
		})
	}
	return nil
}

// widen fetches more messages ahead when the bound of the workers has grown, until the subscription ends.
func (c *consumer) widen(sub *subscription) {
	if c.workers.Bound == nil {
		return
	}
	for {
		_, changed := c.workers.Bound.Look()
		if err := c.refeed(sub); err != nil {
			c.log.Warn("a larger bound of workers needs another subscription", "reason", err)
			sub.stop()
			return
		}
		select {
		case <-sub.taking.Done():
			return
		case <-changed:
		}
	}
}

// refeed replaces the consumers by ones of a larger prefetch, where that is right now: the broker gives a consumer no
// other. What was delivered stays with this channel, and is answered over it.
func (c *consumer) refeed(sub *subscription) error {
	sub.mu.Lock()
	defer sub.mu.Unlock()
	if sub.leaving || sub.taking.Err() != nil || c.prefetch() <= sub.prefetch {
		return nil
	}
	if err := sub.cancel(); err != nil {
		return err
	}
	return c.feed(sub)
}

// cancel ends the consumers. sub.mu is held.
func (sub *subscription) cancel() error {
	for _, f := range sub.feeds {
		f.over.Store(true)
		if err := sub.ch.Cancel(f.tag, false); err != nil {
			return err
		}
	}
	sub.feeds = nil
	return nil
}
