package member

import (
	"context"
	"sync"
	"time"
)

// sight knows the registrations of the nodes that callers ask about. An entry is valid until two thirds of the
// session's timeout after its request was sent, and no longer. So a member that has lost sight of a node, for whatever
// reason, does not take it for alive.
type sight struct {
	clock func() time.Duration
	asked chan struct{} // receives a value when a node is asked about for the first time

	mu    sync.Mutex
	nodes map[string]*sighting
}

// sighting is what was seen of a node.
type sighting struct {
	incarnation uint64        // 0: it is not registered
	until       time.Duration // on the clock, until when that is believed
	told        uint64        // the answer that the watchers know, 0: none
}

func newSight(clock func() time.Duration) *sight {
	return &sight{clock: clock, asked: make(chan struct{}, 1), nodes: map[string]*sighting{}}
}

// of returns the registration of a node that is alive; from the first call on it is looked for.
func (g *sight) of(node string) (incarnation uint64, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[node]
	if n == nil {
		g.nodes[node] = &sighting{}
		select {
		case g.asked <- struct{}{}:
		default:
		}
		return 0, false
	}
	incarnation = n.now(g.clock())
	return incarnation, incarnation != 0
}

// now is the incarnation that is alive at a time; 0: none.
func (n *sighting) now(at time.Duration) uint64 {
	if at >= n.until {
		return 0
	}
	return n.incarnation
}

func (g *sight) wanted() (names []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name := range g.nodes {
		names = append(names, name)
	}
	return names
}

// saw notes a registration, 0: none, of which a request told that was sent at a time.
func (g *sight) saw(node string, incarnation uint64, sent, timeout time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.nodes[node].incarnation, g.nodes[node].until = incarnation, sent+timeout*2/3
}

// absent notes that all registered nodes are these.
func (g *sight) absent(present map[string]struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, n := range g.nodes {
		if _, there := present[name]; !there {
			n.incarnation = 0
		}
	}
}

// news reports whether an answer has changed since the last call, and when one will next if nothing is heard.
func (g *sight) news() (changed bool, left time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock()
	left = time.Hour
	for _, n := range g.nodes {
		incarnation := n.now(now)
		changed = changed || incarnation != n.told
		n.told = incarnation
		if incarnation != 0 {
			left = min(left, n.until-now)
		}
	}
	return changed, left
}

// see looks for the nodes that were asked about. sent is when a request was sent that the whole store has answered, so
// what is read now is no older.
func (m *Member) see(ctx context.Context, s Session, sent time.Duration) {
	for _, name := range m.sight.wanted() {
		err := m.within(ctx, s, func(ctx context.Context) error {
			n, ok, err := s.Registration(ctx, name)
			if err == nil && !ok {
				n.Incarnation = 0
			}
			if err == nil {
				m.sight.saw(name, n.Incarnation, sent, s.Timeout())
			}
			return err
		})
		if err != nil && ctx.Err() == nil {
			m.log.Debug("a node's registration could not be read", "node", name, "error", err)
		}
	}
	m.noteSight()
}

// noteSight tells the watchers of nodes that came or went, and returns when it is to be called next at the latest.
func (m *Member) noteSight() time.Duration {
	changed, left := m.sight.news()
	if changed {
		m.tell()
	}
	return left
}
