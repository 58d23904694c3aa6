package direct

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Broker is a bus that can wait for a message (bus.HoldKey), and keeps what came to grief elsewhere.
type Broker interface {
	bus.Bus
	// Retry stores a message, to be delivered after a delay with one failure more.
	Retry(ctx context.Context, m bus.Message, after time.Duration) error
	// Bury stores a dead letter.
	Bury(ctx context.Context, m bus.Message, cause error) error
	// Quiet waits until the topics hold nothing, neither waiting nor being handled nor to be retried.
	Quiet(ctx context.Context, topics ...string) error
}

// Config says how a bus behaves.
type Config struct {
	// Capacity is how many messages of a bounded topic wait in memory before a publisher has to.
	Capacity int
	// Spare is how many messages of an unbounded topic wait in memory; what comes then is left to the broker.
	Spare int
	// Grace is how long handlers may go on after their consumer's context ended, before their own ends. It is the
	// broker's.
	Grace time.Duration
	Log   *slog.Logger
}

// Default returns the configuration of a node. As many messages as in a bus of one process wait in a bounded topic. The
// frontier takes outcomes in batches, of which Spare has room for several.
func Default() Config {
	return Config{Capacity: 64, Spare: 512, Grace: 20 * time.Second, Log: slog.Default()}
}

// Validate reports what is missing or out of bounds.
func (c *Config) Validate() error {
	if c.Capacity < 1 || c.Spare < 1 || c.Grace <= 0 || c.Log == nil {
		return errors.New("direct: want a capacity and spare room of at least 1, a time of grace, and a logger")
	}
	return nil
}

// Bus implements bus.Bus over a broker.
type Bus struct {
	cfg    Config
	broker Broker
	topics sync.Map // *topic by name
	trees  trees
}

var _ bus.Bus = (*Bus)(nil)

// New returns a bus over a broker.
func New(broker Broker, cfg Config) (*Bus, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Bus{cfg: cfg, broker: broker, trees: trees{of: map[origin][]*tree{}}}, nil
}

func (b *Bus) topic(name string) *topic {
	if t, ok := b.topics.Load(name); ok {
		return t.(*topic)
	}
	kind, known := crawl.TopicNamed(name)
	room := b.cfg.Capacity
	if !kind.Bounded {
		room = b.cfg.Spare
	}
	made := &topic{name: name, root: kind.Root || !known, bounded: kind.Bounded, queue: make(chan delivery, room),
		gone: make(chan struct{})}
	close(made.gone)
	t, _ := b.topics.LoadOrStore(name, made)
	return t.(*topic)
}

// Publish implements bus.Bus. The events of a handler become parts of its message's tree, but for roots; others go to
// the broker. What may wait for room comes first, so an outcome is handed on after its page.
func (b *Bus) Publish(ctx context.Context, msgs ...bus.Message) error {
	t, _ := ctx.Value(treeKey{}).(*tree)
	if t == nil || t.plain {
		return b.broker.Publish(ctx, msgs...)
	}
	var roots, firm, loose []bus.Message
	for _, m := range msgs {
		switch to := b.topic(m.Topic()); {
		case to.root:
			roots = append(roots, m)
		case to.bounded:
			firm = append(firm, m)
		default:
			loose = append(loose, m)
		}
	}
	if len(roots) > 0 {
		if err := b.broker.Publish(ctx, roots...); err != nil {
			return err
		}
	}
	for _, m := range firm {
		if err := b.handOn(ctx, t, m); err != nil {
			return err
		}
	}
	for _, m := range loose {
		if err := b.offer(ctx, t, m); err != nil {
			return err
		}
	}
	return nil
}

// handOn puts a part of a tree into its topic, and waits for room there. If nobody in this process takes it, it goes to
// the broker.
func (b *Bus) handOn(ctx context.Context, t *tree, m bus.Message) error {
	to := b.topic(m.Topic())
	if !t.grow(to) {
		return b.broker.Publish(ctx, m)
	}
	err := to.put(ctx, delivery{msg: m, tree: t})
	if err == nil {
		return nil
	}
	if errors.Is(err, errNoConsumer) {
		err = b.broker.Publish(ctx, m)
	}
	b.done(t, to)
	return err
}

// offer puts a part of a tree into its topic if there is room, and else keeps it for the end of the tree.
func (b *Bus) offer(ctx context.Context, t *tree, m bus.Message) error {
	to := b.topic(m.Topic())
	if !t.grow(to) {
		return b.broker.Publish(ctx, m)
	}
	if !to.offer(delivery{msg: m, tree: t}) {
		b.postpone(t, to, m)
	}
	return nil
}
