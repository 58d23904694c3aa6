package peers_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/peers"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// broker is one that a test switches off. It is the own bus, too.
type broker struct {
	bus.Bus // Consume is never called
	addr    string
	fail    func(ctx context.Context) error // nil: it takes everything

	mu     sync.Mutex
	got    []bus.Message
	calls  int
	opened int
	closed int
}

func (b *broker) Publish(ctx context.Context, msgs ...bus.Message) error {
	b.mu.Lock()
	b.calls++
	fail := b.fail
	b.mu.Unlock()
	if fail != nil {
		if err := fail(ctx); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, msgs...)
	return nil
}

func (b *broker) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed++
	return nil
}

func (b *broker) set(fail func(ctx context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = fail
}

// counts returns calls of Publish, of Open and of Close.
func (b *broker) counts() (calls, opened, closed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls, b.opened, b.closed
}

func (b *broker) nodes() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.got {
		if _, ok := m.Event.(*crawl.Outcome); ok {
			out = append(out, "outcome")
		} else {
			out = append(out, m.Event.(crawl.Addressed).Destination())
		}
	}
	return out
}

// silent is a broker that does not answer.
func silent(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// full is a broker whose topic is full.
func full(ctx context.Context) error { <-ctx.Done(); return errors.Join(bus.ErrBusy, ctx.Err()) }

// world is the brokers of a few nodes, and which addresses they have.
type world struct {
	mu        sync.Mutex
	own       *broker
	brokers   map[string]*broker // by address
	addresses map[string]string  // by node
}

func newWorld(nodes ...string) *world {
	w := &world{own: &broker{}, brokers: map[string]*broker{}, addresses: map[string]string{}}
	for _, n := range nodes {
		w.place(n, n+":1")
	}
	return w
}

// place gives a node an address; none: it becomes unknown.
func (w *world) place(node, addr string) *broker {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.addresses, node)
	if addr == "" {
		return nil
	}
	w.addresses[node] = addr
	if w.brokers[addr] == nil {
		w.brokers[addr] = &broker{addr: addr}
	}
	return w.brokers[addr]
}

func (w *world) of(node string) *broker {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.brokers[w.addresses[node]]
}

func (w *world) config() peers.Config {
	cfg := peers.Default()
	cfg.Log = slog.New(slog.DiscardHandler)
	cfg.Address = func(node string) (string, bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		addr, ok := w.addresses[node]
		return addr, ok
	}
	cfg.Open = func(addr string) (peers.Publisher, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		b := w.brokers[addr]
		b.mu.Lock()
		defer b.mu.Unlock()
		b.opened++
		return b, nil
	}
	return cfg
}

func (w *world) bus(t *testing.T, set ...func(*peers.Config)) *peers.Bus {
	t.Helper()
	cfg := w.config()
	for _, f := range set {
		f(&cfg)
	}
	b, err := peers.New(w.own, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func claim(node string) bus.Message {
	return bus.Message{ID: crawl.MessageID{1, byte(len(node))}, Event: &crawl.Claim{Node: node}}
}

func fresh(node string) bus.Message {
	return bus.Message{ID: crawl.MessageID{2, byte(len(node))}, Event: &crawl.Fresh{Node: node}}
}

func outcome() bus.Message { return bus.Message{Event: &crawl.Outcome{}} }

func same(a, b []string) bool { return slices.Equal(a, b) }
