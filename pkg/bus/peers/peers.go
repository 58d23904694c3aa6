package peers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Publisher publishes to one broker. It is safe for concurrent use.
type Publisher interface {
	// Publish returns nil when the broker has stored every message. It tries until ctx is done. An error that wraps
	// bus.ErrBusy says that the broker was reached, but its queue is full.
	Publish(ctx context.Context, msgs ...bus.Message) error
	Close() error
}

// Config says how other nodes are reached.
type Config struct {
	// Address returns the address of a node's broker; ok is false for an unknown node. It is called for each
	// publication and answers from memory.
	Address func(node string) (addr string, ok bool)
	// Open returns a way to a broker. It may connect later.
	Open func(addr string) (Publisher, error)
	// Timeout is how long a broker may give no answer until it is out of reach.
	Timeout time.Duration
	// Patience is how long a broker may be full, with publishers that wait, until it is treated as out of reach.
	Patience time.Duration
	// Rest is how long nobody tries a broker that is out of reach. It doubles with each try that fails, up to MaxRest.
	Rest, MaxRest time.Duration
	// Retry is after which time a message comes back that could not be published, half as much or as much again.
	Retry time.Duration
	// Keep is how long the connection to a node that is unknown is kept.
	Keep    time.Duration
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: none
}

// Default returns the configuration without Address and Open. The times are chosen as follows. A broker in the same
// network answers within milliseconds, one with a slow disk within a second. A dead node is replaced within half a
// minute, and messages for it should not wait much longer. A node whose topic stays full for half a minute is not
// consuming it.
func Default() Config {
	return Config{Timeout: 3 * time.Second, Patience: 30 * time.Second, Rest: time.Second, MaxRest: 30 * time.Second,
		Retry: 4 * time.Second, Keep: time.Minute, Log: slog.Default()}
}

// Validate reports what is missing or out of bounds.
func (c *Config) Validate() error {
	var errs []error
	if c.Address == nil || c.Open == nil || c.Log == nil {
		errs = append(errs, errors.New("peers: want Address, Open and a logger"))
	}
	for name, d := range map[string]time.Duration{"timeout": c.Timeout, "rest": c.Rest, "time of retries": c.Retry,
		"time to keep connections": c.Keep} {
		if d <= 0 {
			errs = append(errs, fmt.Errorf("peers: a %s of %v: want more than 0", name, d))
		}
	}
	if c.MaxRest < c.Rest || c.Patience < c.Timeout {
		errs = append(errs, errors.New(
			"peers: want a longest rest of at least the rest, and a patience of at least the timeout"))
	}
	return errors.Join(errs...)
}

// What keeps a message from another node. Both are wrapped by a bus.RetryError.
var (
	ErrUnknown = errors.New("the ring knows no broker of this node")
	ErrAway    = errors.New("the node's broker is out of reach")
)

// Bus implements bus.Bus over a node's own bus and those of other nodes.
type Bus struct {
	own     bus.Bus
	cfg     Config
	metrics *metrics
	stop    chan struct{}
	work    sync.WaitGroup // the sweeper, and connections that are being closed

	mu     sync.Mutex
	peers  map[string]*peer
	closed bool
}

var _ bus.Bus = (*Bus)(nil)

// New returns a bus that has no connection yet. Close ends it, and not own.
func New(own bus.Bus, cfg Config) (*Bus, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	b := &Bus{own: own, cfg: cfg, metrics: newMetrics(cfg.Metrics), stop: make(chan struct{}), peers: map[string]*peer{}}
	b.work.Go(b.sweep)
	return b, nil
}

// Consume implements bus.Bus: it delivers what is in the own broker.
func (b *Bus) Consume(ctx context.Context, topic string, w bus.Workers, h bus.Handler) error {
	return b.own.Consume(ctx, topic, w, h)
}

// Publish implements bus.Bus. If a node is unknown or its broker cannot be reached, the error wraps a bus.RetryError.
// Messages to other nodes, and links for this node, may have been published all the same.
func (b *Bus) Publish(ctx context.Context, msgs ...bus.Message) error {
	own, others := route(msgs)
	if len(others) == 0 {
		return b.own.Publish(ctx, msgs...)
	}
	errs := make([]error, len(others))
	var wg sync.WaitGroup
	for i, g := range others[1:] {
		wg.Go(func() { errs[i+1] = b.publishTo(ctx, g) })
	}
	errs[0] = b.publishTo(ctx, others[0])
	wg.Wait()
	if errors.Join(errs...) != nil {
		// Links are published in any case: otherwise one absent node would stop the links of all others. Events such as
		// outcomes are held back, because an outcome says that everything before it was published.
		own = alone(own)
	}
	if len(own) > 0 {
		errs = append(errs, b.own.Publish(ctx, own...))
	}
	return verdict(errs)
}

// verdict is what became of all parts. One that cannot be mended decides: else the message would come back for ever.
func verdict(errs []error) error {
	for _, err := range errs {
		if crawl.IsPermanent(err) {
			return err
		}
	}
	return errors.Join(errs...)
}

// group is what goes to one node.
type group struct {
	node string
	msgs []bus.Message
}

// route groups messages by node, in the order in which the nodes first appear.
func route(msgs []bus.Message) (own []bus.Message, others []group) {
	places := map[string]int{}
	for _, m := range msgs {
		node := ""
		if e, ok := m.Event.(crawl.Addressed); ok {
			node = e.Destination()
		}
		if node == "" {
			own = append(own, m)
			continue
		}
		i, ok := places[node]
		if !ok {
			i = len(others)
			places[node] = i
			others = append(others, group{node: node})
		}
		others[i].msgs = append(others[i].msgs, m)
	}
	return own, others
}

// alone returns the messages that mean the same whatever becomes of those published with them.
func alone(msgs []bus.Message) (out []bus.Message) {
	for _, m := range msgs {
		if t, _ := crawl.TopicNamed(m.Topic()); t.Independent {
			out = append(out, m)
		}
	}
	return out
}

// publishTo publishes what goes to one node, or says when the message that it came from is to come back.
func (b *Bus) publishTo(ctx context.Context, g group) error {
	p, err := b.peer(g.node)
	if err == nil {
		err = p.publish(ctx, g.msgs)
	}
	switch {
	case err == nil:
		b.metrics.published(g.node, len(g.msgs))
		return nil
	case ctx.Err() != nil:
		return err
	}
	b.metrics.failed(g.node, len(g.msgs))
	err = fmt.Errorf("publish %d messages to node %s: %w", len(g.msgs), g.node, err)
	if crawl.IsPermanent(err) {
		return err
	}
	return &bus.RetryError{After: b.cfg.Retry/2 + rand.N(b.cfg.Retry), Err: err, Expected: true} // the peer has said so
}

// errClosed is returned after Close: the messages come back at the next start.
var errClosed = errors.New("peers: closed")

// peer returns the way to a node at its address of now.
func (b *Bus) peer(node string) (*peer, error) {
	addr, ok := b.cfg.Address(node)
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.peers[node]
	switch {
	case b.closed:
		return nil, errClosed
	case !ok:
		return nil, ErrUnknown
	case p != nil && p.addr == addr:
		return p, nil
	case p != nil:
		b.drop(p)
	}
	p = newPeer(&b.cfg, node, addr)
	b.peers[node] = p
	b.metrics.peers(len(b.peers))
	return p, nil
}

// drop closes the connection to a node. The lock is held.
func (b *Bus) drop(p *peer) {
	delete(b.peers, p.node)
	b.metrics.peers(len(b.peers))
	b.work.Go(p.close)
}

// sweep closes connections that have become useless.
func (b *Bus) sweep() {
	look := time.NewTicker(max(b.cfg.Keep/4, time.Millisecond))
	defer look.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-look.C:
			b.sweepOnce(time.Now())
		}
	}
}

func (b *Bus) sweepOnce(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.peers {
		switch addr, ok := b.cfg.Address(p.node); {
		case ok && addr == p.addr:
			p.unknown = time.Time{}
		case ok:
			b.drop(p)
		case p.unknown.IsZero():
			p.unknown = now
		case now.Sub(p.unknown) >= b.cfg.Keep:
			b.drop(p)
		}
	}
}

// Close closes the connections to other nodes. What is being published to them fails.
func (b *Bus) Close() error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.stop)
		for _, p := range b.peers {
			b.drop(p)
		}
	}
	b.mu.Unlock()
	b.work.Wait()
	return nil
}
