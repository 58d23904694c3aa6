package simulation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// broker is one node's: durable queues by topic, and a time for each message. It outlives the node's programs until
// [broker.kill].
type broker struct {
	cfg *Config

	mu     sync.Mutex
	free   time.Time // when all that has come so far is handled
	busy   time.Duration
	dead   bool
	topics map[string]*topic
	traffic
	buried []string // what no handler could make sense of
}

// traffic counts what a broker has got.
type traffic struct {
	messages map[string]int64 // by topic
	foreign  int64            // from other nodes
	octets   int64            // of these, as far as they were weighed
	weighed  int64
	deepest  int // messages that waited in one topic
}

type topic struct {
	waiting  []bus.Message
	consumer *consumer
}

type consumer struct {
	ctx    context.Context
	handle bus.Handler
	most   int
	busy   int
	wg     sync.WaitGroup
}

func newBroker(cfg *Config) *broker {
	return &broker{cfg: cfg, topics: map[string]*topic{}, traffic: traffic{messages: map[string]int64{}}}
}

// weight is how many real messages one message of a topic stands for: a page passes parser, content-seen and URL filter
// before its links.
func weight(topic string) int64 {
	if topic == crawl.TopicParse {
		return 3
	}
	return 1
}

// accept takes messages in and says when they are on disk; false: the broker is dead. The times of messages that come
// together add up.
func (b *broker) accept(msgs []bus.Message, foreign bool) (ready time.Time, alive bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		return time.Time{}, false
	}
	n := int64(0)
	for _, m := range msgs {
		w := weight(m.Topic())
		b.messages[m.Topic()] += w
		n += w
		if foreign {
			b.foreign++
			b.weigh(m.Event)
		}
	}
	now := time.Now()
	if b.free.Before(now) {
		b.free = now
	}
	took := time.Duration(n) * b.cfg.Message
	b.busy += took
	b.free = b.free.Add(took)
	return b.free, true
}

// weigh encodes one message of 64 and notes its octets.
func (b *broker) weigh(e crawl.Event) {
	if b.foreign%64 != 1 {
		return
	}
	if data, err := crawl.EncodeEvent(e); err == nil {
		b.octets += int64(len(data))
		b.weighed++
	}
}

// deliver makes messages that were accepted wait for their consumers; false: the broker is dead.
func (b *broker) deliver(msgs ...bus.Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		return false
	}
	for _, m := range msgs {
		t := b.topic(m.Topic())
		t.waiting = append(t.waiting, m)
		b.deepest = max(b.deepest, len(t.waiting))
		b.kick(t)
	}
	return true
}

// deepestTopic is how many messages waited in one topic at most.
func (b *broker) deepestTopic() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.deepest
}

func (b *broker) topic(name string) *topic {
	t := b.topics[name]
	if t == nil {
		t = &topic{}
		b.topics[name] = t
	}
	return t
}

// kick sets as many handlers to work as there are messages.
func (b *broker) kick(t *topic) {
	c := t.consumer
	if c == nil {
		return
	}
	for n := len(t.waiting); n > 0 && c.busy < c.most && c.ctx.Err() == nil; n-- {
		c.busy++
		c.wg.Go(func() { b.work(t, c) })
	}
}

// work handles messages until none waits.
func (b *broker) work(t *topic, c *consumer) {
	for {
		b.mu.Lock()
		if len(t.waiting) == 0 || c.ctx.Err() != nil {
			c.busy--
			b.mu.Unlock()
			return
		}
		m := t.waiting[0]
		t.waiting = t.waiting[1:]
		b.mu.Unlock()
		b.settle(t, c, m, c.handle(c.ctx, m))
	}
}

// settle decides about a message whose handler has returned.
func (b *broker) settle(t *topic, c *consumer, m bus.Message, err error) {
	if err == nil {
		return
	}
	if c.ctx.Err() != nil {
		m.Redelivered = true
		b.mu.Lock()
		t.waiting = append(t.waiting, m)
		b.mu.Unlock()
		return
	}
	again, after := bus.Disposition(err, m.Attempt)
	if !again {
		b.mu.Lock()
		b.buried = append(b.buried, fmt.Sprintf("%T: %v", m.Event, err))
		b.mu.Unlock()
		return
	}
	m.Attempt++
	time.AfterFunc(after, func() { b.deliver(m) })
}

var errTwoConsumers = errors.New("simulation: a topic has one consumer")

// consume delivers a topic's messages to h until ctx ends, and returns when the handlers have.
func (b *broker) consume(ctx context.Context, name string, most int, h bus.Handler) error {
	c := &consumer{ctx: ctx, handle: h, most: most}
	b.mu.Lock()
	t := b.topic(name)
	if t.consumer != nil {
		b.mu.Unlock()
		return errTwoConsumers
	}
	t.consumer = c
	b.kick(t)
	b.mu.Unlock()
	<-ctx.Done()
	b.mu.Lock()
	t.consumer = nil
	b.mu.Unlock()
	c.wg.Wait()
	return nil
}

// kill ends the broker: what it held is gone.
func (b *broker) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead = true
	clear(b.topics)
}

// quiet waits until a topic has no message, waiting or handled; false: ctx ended before.
func (b *broker) quiet(ctx context.Context, name string) bool {
	for b.depth(name) > 0 {
		if !sleep(ctx, 50*time.Millisecond) {
			return false
		}
	}
	return ctx.Err() == nil
}

func (b *broker) depth(name string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.topic(name)
	if t.consumer == nil {
		return len(t.waiting)
	}
	return len(t.waiting) + t.consumer.busy
}
