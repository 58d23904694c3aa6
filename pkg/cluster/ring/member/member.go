package member

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Member is a program's membership of a ring. It is safe for concurrent use.
type Member struct {
	cfg   Config
	log   *slog.Logger
	store Store
	fence fence
	sight *sight
	// incarnation is that of the registration; 0: none
	incarnation atomic.Uint64
	table       atomic.Pointer[ring.Table]

	mu       sync.Mutex
	denial   string  // what the log heard last of a store that refuses this program
	session  Session // nil: none is open
	watchers map[chan struct{}]struct{}
	fenced   bool // what the watchers and the log know
}

// New returns a member that does nothing before Run.
func New(store Store, cfg Config) (*Member, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("membership of a ring: %w", err)
	}
	clock := cfg.clock()
	return &Member{cfg: cfg, log: cfg.log(), store: store, fence: fence{clock: clock}, sight: newSight(clock),
		watchers: map[chan struct{}]struct{}{}, fenced: true}, nil
}

// Table returns the newest table that is known; nil before the first. It may be old: see Fenced.
func (m *Member) Table() *ring.Table { return m.table.Load() }

// Fenced reports whether this node must not act on what it knows: it is not registered, or has not heard from the store
// for two thirds of the session's timeout. A third of the timeout later, others may have taken over what it owns. For
// an observer it says that the table may be old.
func (m *Member) Fenced() bool { return m.fence.up() }

// Left is the time until this node is fenced if the store stops answering; 0 or less: it is fenced. Use it as an upper
// bound for anything that must end before the node loses its place, such as a request.
func (m *Member) Left() time.Duration { return m.fence.left() }

// Incarnation returns that of the own registration; 0 while there is none, and of an observer.
func (m *Member) Incarnation() uint64 { return m.incarnation.Load() }

// Alive returns the registration of a node, this one or another, as of the last look; ok is false if the node is not
// registered, and while this member is fenced. The first call for a node returns false and starts the looks: six for
// each session timeout, and one at each sign of a change. Watch tells when the answer changes.
//
// A registration that ends is reported as gone within two thirds of the session's timeout, whatever is lost: events,
// answers, the connection. Others take over what the node owns when it has been missing for the grace time, which is no
// shorter than the timeout. So a program that acts on behalf of the node stops in time if it stops when Alive returns
// false.
func (m *Member) Alive(node string) (incarnation uint64, ok bool) {
	incarnation, ok = m.sight.of(node)
	if !ok || m.Fenced() {
		return 0, false
	}
	return incarnation, true
}

// Token returns what this node writes with; false while it is fenced or the table does not know this registration.
func (m *Member) Token() (ring.Token, bool) {
	t := m.Table()
	if t == nil || m.Fenced() {
		return ring.Token{}, false
	}
	k, ok := t.Token(m.cfg.Node.Name)
	return k, ok && k.Incarnation == m.incarnation.Load()
}

// MayLease reports whether this node may contact hosts of a virtual node now.
func (m *Member) MayLease(vnode int) bool {
	_, member := m.Token()
	return member && m.Table().MayLease(m.cfg.Node.Name, vnode)
}

// Watch returns a channel that receives a value after the table, the fence or the registration has changed, and a
// function that ends the watch. Several changes may be one value.
func (m *Member) Watch() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watchers[c] = struct{}{}
	return c, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, c)
	}
}

func (m *Member) tell() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tellLocked()
}

func (m *Member) tellLocked() {
	for c := range m.watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Drain asks a node, this or another, to leave in order.
func (m *Member) Drain(ctx context.Context, name string) error {
	return m.change(ctx, func(t *ring.Table) (*ring.Table, error) { return t.Drain(name) })
}

// change changes the table and adopts the result. ErrFenced while this node is fenced.
func (m *Member) change(ctx context.Context, change func(*ring.Table) (*ring.Table, error)) error {
	s, err := m.acting()
	if err != nil {
		return err
	}
	t, err := Change(ctx, s, change)
	if err != nil {
		return err
	}
	return m.adopt(t)
}

// acting returns the session, over which this node may act; ErrFenced while it may not.
func (m *Member) acting() (Session, error) {
	m.mu.Lock()
	s := m.session
	m.mu.Unlock()
	if s == nil || m.Fenced() {
		return nil, ErrFenced
	}
	return s, nil
}

// errReplaced says that the store holds another ring than before: everything this node knows about owners is void.
var errReplaced = errors.New("the ring was deleted, or created anew, while this node was a member of it: restart the " +
	"node")

// adopt makes a table the newest one, unless there is a newer one.
func (m *Member) adopt(t *ring.Table) error {
	for {
		old := m.table.Load()
		if old != nil && !old.SameRing(t) {
			return errReplaced
		}
		if old != nil && old.Epoch() >= t.Epoch() {
			return nil
		}
		if m.table.CompareAndSwap(old, t) {
			m.log.Debug("ring", "epoch", t.Epoch(), "nodes", len(t.Nodes()))
			m.tell()
			return nil
		}
	}
}
