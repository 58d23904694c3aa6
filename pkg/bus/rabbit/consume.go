package rabbit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// spare is how many messages are prefetched beyond those being handled. That many handlers can finish at once without
// waiting a round trip. A larger number would keep messages from other programs.
const spare = 32

// errConsumerLost ends a session whose channel, connection or queue is gone.
var errConsumerLost = errors.New("the broker ended the consumer")

// consumer is one call of Consume.
type consumer struct {
	*vhost
	topic   string
	workers bus.Workers
	handler bus.Handler
	log     *slog.Logger
}

// Consume implements bus.Bus. When ctx ends, it takes no more messages, returns those not yet begun to their queue, and
// gives running handlers the grace period of the Config. When the connection is lost, the handlers' contexts end at
// once, because the broker redelivers their messages to others.
func (b *Bus) Consume(ctx context.Context, topic string, w bus.Workers, h bus.Handler) error {
	if err := w.Validate(); err != nil {
		return err
	}
	i, err := b.indexOf(topic)
	if err != nil {
		return err
	}
	c := &consumer{vhost: b.vhosts[i], topic: topic, workers: w, handler: h, log: b.cfg.Log.With("topic", topic)}
	wait := pause{first: 50 * time.Millisecond, most: 5 * time.Second}
	for ctx.Err() == nil {
		began := time.Now()
		err := c.session(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // being told to end is no failure
		case errors.Is(err, ErrClosed):
			return fmt.Errorf("consume %s: %w", topic, err)
		case time.Since(began) > time.Minute:
			wait.reset()
		}
		c.log.Warn("not consuming; trying again", "reason", err)
		_ = wait.wait(ctx)
	}
	return nil
}

// subscription is a consumer's channel and the deliveries that came over it.
type subscription struct {
	ch       *amqp.Channel
	jobs     chan *job          // has room for all that the first prefetch allows
	taking   context.Context    //nolint:containedctx // of those who take jobs
	stop     context.CancelFunc // ends it
	mu       sync.Mutex
	feeds    []*feed // the consumers that the broker has
	prefetch int     // of each
	leaving  bool    // there are to be no more
	readers  sync.WaitGroup
	handlers context.Context    // of the handlers
	end      context.CancelFunc // ends it
	running  sync.WaitGroup     // messages that are held (bus.Held), and whose own handlers are not over
	held     sync.WaitGroup     // messages that are held
}

// session consumes over one connection until ctx is done or the connection is lost.
func (c *consumer) session(ctx context.Context) error {
	s, err := c.consuming.get(ctx)
	if err != nil {
		return err
	}
	if err := c.declareOn(ctx, s, c.cfg.MaxLength); err != nil {
		return err
	}
	ch, err := s.conn.Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	defer ch.Close() // gives back what is not acknowledged
	taking, stop := context.WithCancel(ctx)
	defer stop()
	sub := &subscription{ch: ch, jobs: make(chan *job, 2*c.prefetch()*maxBundle), stop: stop, taking: taking}
	sub.handlers, sub.end = context.WithCancel(context.WithoutCancel(ctx))
	defer sub.end()
	if err := c.subscribe(sub); err != nil {
		s.undeclare()
		return err
	}
	done, left := make(chan struct{}), make(chan struct{})
	go func() { defer close(left); c.leave(taking, ctx, sub, done) }()
	go c.widen(sub)
	bus.RunPool(taking, c.workers, sub.jobs, func(j *job, detach func()) { c.handle(sub, j, detach) }) //nolint:contextcheck // handlers outlive the subscription
	sub.running.Wait()
	if ctx.Err() != nil {
		sub.held.Wait()
	}
	close(done)
	<-left
	if ctx.Err() == nil {
		s.undeclare()
	}
	return errConsumerLost
}

// put passes a delivery to the workers when it is due.
func (sub *subscription) put(d amqp.Delivery) {
	due := number(d.Headers, headerDue)
	wait := min(time.Until(time.UnixMilli(due)), maxHold)
	if due != 0 && wait > 0 {
		time.AfterFunc(wait, func() { sub.offer(&job{Delivery: d}) })
		return
	}
	for _, j := range jobsOf(d) {
		sub.offer(j)
	}
}

// offer passes a job to the workers, or gives it back where nobody takes any more and there is no room.
func (sub *subscription) offer(j *job) {
	select {
	case sub.jobs <- j:
		return
	default:
	}
	select {
	case sub.jobs <- j:
	case <-sub.taking.Done():
		j.giveBack()
	}
}

// leave waits until no more deliveries come. If ctx ended, it returns those not begun and ends the handlers' context
// after the grace period.
func (c *consumer) leave(taking, ctx context.Context, sub *subscription, done <-chan struct{}) {
	<-taking.Done()
	if ctx.Err() == nil {
		return
	}
	sub.mu.Lock()
	sub.leaving = true
	err := sub.cancel()
	sub.mu.Unlock()
	if err != nil {
		return // the channel is gone, and with it the messages and the contexts
	}
	sub.readers.Wait()
	for more := true; more; {
		select {
		case j := <-sub.jobs:
			j.giveBack()
		default:
			more = false
		}
	}
	grace := time.NewTimer(c.cfg.Grace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
		sub.end()
		<-done
	}
}
