// Package membus is the bus of a node that runs in one process.
//
// Its queues are bounded channels, and events are passed by reference. It keeps the promise of a bus, that nothing
// published is lost, without writing every message to disk:
//
//   - Messages of the journaled topics (fetch and due) are roots. Publish stores them in the journal first.
//   - Every other message belongs to the tree of the root that it came from. A root leaves the journal when its whole
//     tree has been handled. After a crash the journal still has the root; it is delivered again, and its tree grows
//     again with the same ids.
//
// Work that must not change between two deliveries must be a root itself. A page that is fetched again may have
// changed, so the batch of its links is a root: the same batch always makes and publishes the same claims in the DUE.
package membus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Config says how a bus behaves.
type Config struct {
	Capacity  int      // messages that wait in a topic before Publish blocks
	Journaled []string // topics whose messages are stored before they are delivered
	Journal   Journal  // nil: nothing survives the process
	Dead      DeadLetters
	Log       *slog.Logger
	// Encode encodes and decodes every event on its way, as a broker would. Tests use it to show that events survive.
	Encode bool
}

// Default returns the configuration of a node: 64 messages a topic, fetch and due journaled.
func Default() Config {
	return Config{Capacity: 64, Journaled: crawl.TopicNames(func(t crawl.Topic) bool { return t.Root }),
		Log: slog.Default()}
}

// ErrClosed is returned by Publish after Close.
var ErrClosed = errors.New("the bus is closed")

// Bus is the in-process bus. It implements bus.Bus.
type Bus struct {
	cfg    Config
	topics sync.Map // *topic by name
	roots  atomic.Int64
	jobs   sync.Map // *atomic.Int64 by crawl.JobID: roots of a job
	closed chan struct{}
	once   sync.Once
}

type topic struct {
	name      string
	journaled bool
	queue     chan delivery
	held      atomic.Int64 // messages that are not handled: in the queue, with a handler, or waiting to come back
}

type delivery struct {
	msg  bus.Message
	root *root
}

// root is a tree of messages: how many of it are not handled yet.
type root struct {
	pending   atomic.Int64
	of        *atomic.Int64 // the roots of its job
	journaled bool
	seq       uint64
}

type rootKey struct{}

// New returns a bus. Call Recover when its consumers are running.
func New(cfg Config) *Bus {
	return &Bus{cfg: cfg, closed: make(chan struct{})}
}

// Close makes waiting and later calls of Publish fail. Messages that wait are left to the journal.
func (b *Bus) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// Outstanding returns the number of roots that are not wholly handled. At 0 the bus is empty.
func (b *Bus) Outstanding() int64 { return b.roots.Load() }

// OutstandingOf returns the number of roots of a job that are not wholly handled. A tree is of its root's job.
func (b *Bus) OutstandingOf(job crawl.JobID) int64 { return b.rootsOf(job).Load() }

// Forget forgets a job of which nothing is outstanding and nothing will come.
func (b *Bus) Forget(job crawl.JobID) { b.jobs.Delete(job) }

func (b *Bus) rootsOf(job crawl.JobID) *atomic.Int64 {
	if n, ok := b.jobs.Load(job); ok {
		return n.(*atomic.Int64)
	}
	n, _ := b.jobs.LoadOrStore(job, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// newRoot is the root of a message's tree, which does not count yet.
func (b *Bus) newRoot(e crawl.Event, journaled bool) *root {
	return &root{of: b.rootsOf(crawl.JobOf(e)), journaled: journaled}
}

// count notes that a root begins to count, or ends to.
func (b *Bus) count(r *root, n int64) {
	b.roots.Add(n)
	r.of.Add(n)
}

func (b *Bus) topic(name string) *topic {
	if t, ok := b.topics.Load(name); ok {
		return t.(*topic)
	}
	room := b.cfg.Capacity
	if t, ok := crawl.TopicNamed(name); ok && t.Room > 0 {
		room = t.Room
	}
	t, _ := b.topics.LoadOrStore(name, &topic{name: name, queue: make(chan delivery, room),
		journaled: b.cfg.Journal != nil && slices.Contains(b.cfg.Journaled, name)})
	return t.(*topic)
}

// Publish implements bus.Bus.
func (b *Bus) Publish(ctx context.Context, msgs ...bus.Message) error {
	ds, err := b.plant(ctx, msgs)
	if err != nil {
		return err
	}
	for i, d := range ds {
		if err := b.admit(ctx, d); err != nil {
			for _, rest := range ds[i:] {
				b.abandon(rest.root)
			}
			return err
		}
	}
	return nil
}

// plant gives each message its root, and stores those that are roots themselves.
func (b *Bus) plant(ctx context.Context, msgs []bus.Message) ([]delivery, error) {
	parent, _ := ctx.Value(rootKey{}).(*root)
	ds := make([]delivery, len(msgs))
	var stored []bus.Message
	var roots []*root
	for i, m := range msgs {
		if b.cfg.Encode {
			e, err := rewire(&m)
			if err != nil {
				return nil, err
			}
			m.Event = e
		}
		ds[i] = delivery{msg: m, root: parent}
		switch journaled := b.topic(m.Topic()).journaled; {
		case journaled:
			ds[i].root = b.newRoot(m.Event, true)
			stored, roots = append(stored, m), append(roots, ds[i].root)
		case parent == nil:
			ds[i].root = b.newRoot(m.Event, false)
		}
	}
	if err := b.store(ctx, stored, roots); err != nil {
		return nil, err
	}
	for _, d := range ds {
		if d.root.pending.Add(1) == 1 {
			b.count(d.root, 1)
		}
	}
	return ds, nil
}

// store journals the messages and gives their roots the sequence numbers.
func (b *Bus) store(ctx context.Context, stored []bus.Message, roots []*root) error {
	if len(stored) == 0 {
		return nil
	}
	first, err := b.cfg.Journal.Append(ctx, stored...)
	if err != nil {
		return fmt.Errorf("journal %d messages: %w", len(stored), err)
	}
	for i, r := range roots {
		r.seq = first + uint64(i)
	}
	return nil
}

func rewire(m *bus.Message) (crawl.Event, error) {
	data, err := crawl.EncodeEvent(m.Event)
	if err != nil {
		return nil, crawl.Permanent(err)
	}
	return crawl.DecodeEvent(m.Topic(), data)
}

// admit puts a message into its topic for the first time.
func (b *Bus) admit(ctx context.Context, d delivery) error {
	t := b.topic(d.msg.Topic())
	t.held.Add(1)
	err := b.enqueue(ctx, t, d)
	if err != nil {
		t.held.Add(-1)
	}
	return err
}

func (b *Bus) enqueue(ctx context.Context, t *topic, d delivery) error {
	select {
	case t.queue <- d:
		return nil
	default:
	}
	select {
	case t.queue <- d:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.closed:
		return ErrClosed
	}
}

// abandon gives up a message that did not get into its queue. Its root stays in the journal.
func (b *Bus) abandon(r *root) {
	if r.pending.Add(-1) == 0 {
		b.count(r, -1)
	}
}

// settle notes that one message of the tree was handled, and removes the root from the journal after the last.
func (b *Bus) settle(ctx context.Context, r *root) {
	if r.pending.Add(-1) != 0 {
		return
	}
	if r.journaled {
		if err := b.cfg.Journal.Remove(ctx, r.seq); err != nil {
			b.cfg.Log.Warn("a handled message stays in the journal and will be handled again after a restart", "error", err)
		}
	}
	b.count(r, -1)
}

// Consume implements bus.Bus.
func (b *Bus) Consume(ctx context.Context, name string, w bus.Workers, h bus.Handler) error {
	if err := w.Validate(); err != nil {
		return err
	}
	t := b.topic(name)
	bus.RunPool(ctx, w, t.queue, func(d delivery, detach func()) { b.handle(ctx, t, d, h, detach) })
	return nil
}

// handling is the context of a handler. It knows the root of its message, and how to do without its return.
type handling struct {
	context.Context
	bus    *Bus
	topic  *topic
	d      delivery
	detach func()
	ended  atomic.Bool
}

// Value implements context.Context.
func (h *handling) Value(key any) any {
	switch key.(type) {
	case rootKey:
		return h.d.root
	case bus.AbandonKey:
		return h
	}
	return h.Context.Value(key)
}

// Abandon implements bus.Abandoner.
func (h *handling) Abandon(err error) bool {
	if !h.ended.CompareAndSwap(false, true) {
		return false
	}
	h.detach()
	h.bus.dispose(h.Context, h.topic, h.d, err)
	return true
}

// Life implements bus.Abandoner.
func (h *handling) Life() context.Context { return h.Context }

func (b *Bus) handle(ctx context.Context, t *topic, d delivery, h bus.Handler, detach func()) {
	one := &handling{Context: ctx, bus: b, topic: t, d: d, detach: detach}
	err := h(one, d.msg) //nolint:contextcheck // one is ctx, and more
	if one.ended.CompareAndSwap(false, true) {
		b.dispose(ctx, t, d, err)
	}
}

// dispose does with a message what its handler's error asks for.
func (b *Bus) dispose(ctx context.Context, t *topic, d delivery, err error) {
	if err == nil {
		t.held.Add(-1)
		b.settle(ctx, d.root)
		return
	}
	if ctx.Err() != nil {
		return // stopping: the root stays in the journal
	}
	retry, after := bus.Disposition(err, d.msg.Attempt)
	if retry {
		d.msg.Attempt = bus.Failed(err, d.msg.Attempt)
		time.AfterFunc(after, func() { _ = b.enqueue(ctx, t, d) })
		return
	}
	b.bury(ctx, t, d, err)
}

// bury puts a message into the dead letters. Where that fails too, the message is tried again later: it is never
// dropped.
func (b *Bus) bury(ctx context.Context, t *topic, d delivery, cause error) {
	b.cfg.Log.Error("message put into the dead letters; `whirlpool replay` delivers it again", "topic", t.name,
		"id", d.msg.ID, "key", d.msg.Event.Key(), "reason", cause)
	if b.cfg.Dead != nil {
		letter := bus.DeadLetter{Message: d.msg, Topic: t.name, Reason: cause.Error(), At: time.Now()}
		if err := b.cfg.Dead.Bury(ctx, letter); err != nil {
			b.cfg.Log.Error("dead letter not stored, trying again", "topic", t.name, "id", d.msg.ID, "error", err)
			time.AfterFunc(bus.Backoff(bus.MaxAttempts), func() { b.bury(ctx, t, d, cause) })
			return
		}
	}
	t.held.Add(-1)
	b.settle(ctx, d.root)
}

// Recover delivers the messages in the journal, marked Redelivered, and returns their number. They count as outstanding
// from then on.
func (b *Bus) Recover(ctx context.Context) (int, error) {
	if b.cfg.Journal == nil {
		return 0, nil
	}
	var found []delivery
	err := b.cfg.Journal.Load(ctx, func(seq uint64, m bus.Message) error {
		m.Redelivered = true
		r := b.newRoot(m.Event, true)
		r.seq = seq
		r.pending.Store(1)
		found = append(found, delivery{msg: m, root: r})
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read the journal: %w", err)
	}
	for _, d := range found {
		b.count(d.root, 1)
	}
	go b.deliver(ctx, found)
	return len(found), nil
}

// Replay delivers messages of any topic as roots of their own, marked Redelivered. They are in the journal when it
// returns, so a kill loses none. They wait for room in their topics, but the caller does not.
func (b *Bus) Replay(ctx context.Context, msgs ...bus.Message) error {
	ds, roots := make([]delivery, len(msgs)), make([]*root, len(msgs))
	for i, m := range msgs {
		m.Redelivered = true
		roots[i] = b.newRoot(m.Event, b.cfg.Journal != nil)
		ds[i] = delivery{msg: m, root: roots[i]}
	}
	if b.cfg.Journal != nil {
		if err := b.store(ctx, msgs, roots); err != nil {
			return err
		}
	}
	for _, r := range roots {
		r.pending.Store(1)
		b.count(r, 1)
	}
	go b.deliver(context.WithoutCancel(ctx), ds)
	return nil
}

// deliver puts messages into their queues as there is room, until the bus is closed.
func (b *Bus) deliver(ctx context.Context, ds []delivery) {
	for _, d := range ds {
		if b.admit(ctx, d) != nil {
			return
		}
	}
}
