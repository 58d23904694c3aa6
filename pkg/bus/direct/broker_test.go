package direct_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// broker is a broker in memory that outlives the buses over it. It keeps each message until it is answered.
type broker struct {
	mu      sync.Mutex
	topics  map[string]*queue
	dead    []bus.DeadLetter
	room    int // of a bounded topic
	rests   int // handlers of roots that were over, once for each delivery
	changed chan struct{}
}

type queue struct {
	waiting []bus.Message
	unacked int
}

func newBroker() *broker {
	return &broker{topics: map[string]*queue{}, room: 2000, changed: make(chan struct{})}
}

func (b *broker) of(topic string) *queue {
	if b.topics[topic] == nil {
		b.topics[topic] = &queue{}
	}
	return b.topics[topic]
}

func (b *broker) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// do changes the broker, and wakes who waits for a change.
func (b *broker) do(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	b.tell()
}

func (b *broker) count(topic string) (waiting, unacked int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.of(topic).waiting), b.of(topic).unacked
}

// total counts all that is in the broker but the dead letters.
func (b *broker) total() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range b.topics {
		n += len(q.waiting) + q.unacked
	}
	return n
}

func (b *broker) letters() []bus.DeadLetter {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.dead)
}

// conn is a program's connection to a broker. It implements direct.Broker.
type conn struct {
	*broker
	mu    sync.Mutex
	live  context.Context //nolint:containedctx // ends when the connection is cut
	cut   context.CancelFunc
	lost  bool // for good
	early bool // the fault of a control: a root is answered when its own handler is over
}

func dial(b *broker) *conn {
	c := &conn{broker: b}
	c.live, c.cut = context.WithCancel(context.Background())
	return c
}

// drop cuts the connection: what has no answer is delivered again, marked. It is made again at once unless it is lost.
func (c *conn) drop(lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut()
	if c.lost = c.lost || lost; !c.lost {
		c.live, c.cut = context.WithCancel(context.Background())
	}
}

func (c *conn) now() (context.Context, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live, c.lost
}

var errCut = errors.New("the connection is lost")

func (c *conn) Publish(ctx context.Context, msgs ...bus.Message) error {
	for _, m := range msgs {
		if err := c.put(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) put(ctx context.Context, m bus.Message) error {
	kind, _ := crawl.TopicNamed(m.Topic())
	for {
		if _, lost := c.now(); lost {
			return errCut
		}
		c.broker.mu.Lock()
		q, changed := c.of(m.Topic()), c.changed
		if !kind.Bounded || len(q.waiting) < c.room {
			q.waiting = append(q.waiting, m)
			c.tell()
			c.broker.mu.Unlock()
			return nil
		}
		c.broker.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *conn) Retry(ctx context.Context, m bus.Message, after time.Duration) error {
	if _, lost := c.now(); lost || ctx.Err() != nil {
		return errCut
	}
	c.do(func() { c.of(m.Topic()).unacked++ })
	time.AfterFunc(after, func() {
		c.do(func() {
			q := c.of(m.Topic())
			q.unacked--
			q.waiting = append(q.waiting, m)
		})
	})
	return nil
}

func (c *conn) Bury(_ context.Context, m bus.Message, cause error) error {
	if _, lost := c.now(); lost {
		return errCut
	}
	c.do(func() { c.dead = append(c.dead, bus.DeadLetter{Message: m, Topic: m.Topic(), Reason: cause.Error()}) })
	return nil
}

func (c *conn) Quiet(ctx context.Context, topics ...string) error {
	for {
		c.broker.mu.Lock()
		n, changed := 0, c.changed
		for _, t := range topics {
			n += len(c.of(t).waiting) + c.of(t).unacked
		}
		c.broker.mu.Unlock()
		if n == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *conn) Consume(ctx context.Context, topic string, w bus.Workers, h bus.Handler) error {
	jobs := make(chan *taken)
	var held sync.WaitGroup
	feeding := make(chan struct{})
	go func() {
		defer close(feeding)
		c.feed(ctx, topic, jobs, &held)
	}()
	bus.RunPool(ctx, w, jobs, func(k *taken, _ func()) {
		if err := h(k, k.msg); !k.holds() {
			k.End(err)
		}
	})
	<-feeding
	if _, lost := c.now(); !lost {
		held.Wait()
	}
	return nil
}

// feed takes the messages of a topic one by one.
func (c *conn) feed(ctx context.Context, topic string, jobs chan<- *taken, held *sync.WaitGroup) {
	for ctx.Err() == nil {
		live, lost := c.now()
		if lost {
			<-ctx.Done()
			return
		}
		c.broker.mu.Lock()
		q, changed := c.of(topic), c.changed
		if len(q.waiting) == 0 {
			c.broker.mu.Unlock()
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		k := &taken{Context: live, c: c, topic: topic, msg: q.waiting[0], done: held.Done}
		q.waiting, q.unacked = q.waiting[1:], q.unacked+1
		c.broker.mu.Unlock()
		held.Add(1)
		stop := context.AfterFunc(live, k.comeBack)
		k.stop = func() { stop() }
		select {
		case jobs <- k:
		case <-ctx.Done():
			k.GiveBack()
		}
	}
}

// taken is a message that was delivered over a connection, the context of its handler and how it is answered.
type taken struct {
	context.Context
	c     *conn
	topic string
	msg   bus.Message
	stop  func()
	done  func()

	mu         sync.Mutex
	held, over bool
}

func (k *taken) Value(key any) any {
	if _, ok := key.(bus.HoldKey); ok {
		return k
	}
	return k.Context.Value(key)
}

func (k *taken) Hold() bus.Held {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held = true
	return k
}

func (k *taken) holds() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}

func (k *taken) Rest() {
	k.c.do(func() { k.c.rests++ })
	if k.c.early {
		k.End(nil)
	}
}

// answer ends a delivery, once.
func (k *taken) answer(f func(q *queue)) {
	k.mu.Lock()
	over := k.over
	k.over = true
	k.mu.Unlock()
	if over {
		return
	}
	k.c.do(func() {
		q := k.c.of(k.topic)
		q.unacked--
		f(q)
	})
	k.done()
}

// comeBack delivers the message again, marked, because its connection is lost.
func (k *taken) comeBack() {
	k.answer(func(q *queue) {
		m := k.msg
		m.Redelivered = true
		q.waiting = append([]bus.Message{m}, q.waiting...)
	})
}

func (k *taken) GiveBack() {
	k.answer(func(q *queue) { q.waiting = append([]bus.Message{k.msg}, q.waiting...) })
}

func (k *taken) End(err error) {
	if k.Err() != nil {
		return // it comes back
	}
	k.stop()
	retry, after := bus.Disposition(err, k.msg.Attempt)
	switch {
	case err == nil:
	case retry:
		m := k.msg
		m.Attempt = bus.Failed(err, m.Attempt)
		_ = k.c.Retry(context.Background(), m, after)
	default:
		_ = k.c.Bury(context.Background(), k.msg, err)
	}
	k.answer(func(*queue) {})
}
