// Package memstore keeps the table of a ring in memory, for simulations and tests: a server with sessions that expire,
// and clients that can be cut off from it. It takes time only from package time, so it runs in virtual time
// (testing/synctest).
//
// To members it behaves as ZooKeeper does: a session ends no earlier than its timeout after the last request that
// reached the server. A client that is cut off learns nothing, not even that its session has ended, until it is
// connected again.
package memstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
)

// Server holds one ring.
type Server struct {
	timeout time.Duration

	mu       sync.Mutex
	table    *ring.Table
	version  int64
	nodes    map[string]registration
	sessions map[*session]struct{}
	last     uint64 // incarnation
	writes   int
	said     map[string]saying // by node
	sayings  int
}

type registration struct {
	node ring.Node
	by   *session
}

type saying struct {
	done ring.Done
	by   *session
}

// New returns a server without a ring that grants sessions a timeout.
func New(timeout time.Duration) *Server {
	return &Server{timeout: timeout, nodes: map[string]registration{}, said: map[string]saying{},
		sessions: map[*session]struct{}{}}
}

// Writes returns how many tables were stored.
func (s *Server) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// Sayings returns how often nodes have said what they have done of moves.
func (s *Server) Sayings() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sayings
}

// Client is a way to the server. It implements member.Store.
type Client struct {
	server *Server
	mu     sync.Mutex
	whole  chan struct{} // closed while the way is whole; replaced when it is cut
	open   []*session
}

// Client returns a way to the server.
func (s *Server) Client() *Client {
	c := &Client{server: s, whole: make(chan struct{})}
	close(c.whole)
	return c
}

// Cut lets nothing through, in either direction, until Heal. Calls wait, and fail when their context ends.
func (c *Client) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isWhole() {
		c.whole = make(chan struct{})
	}
}

// Heal undoes Cut. Sessions that have ended meanwhile hear of it.
func (c *Client) Heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isWhole() {
		return
	}
	close(c.whole)
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for _, s := range c.open {
		if s.over {
			s.end()
		}
		signal(s.changed) // as after any reconnection
	}
}

// Expire ends the sessions of the client at the server, as if their timeout had passed.
func (c *Client) Expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for _, s := range c.open {
		c.server.drop(s)
		if c.isWhole() {
			s.end()
		}
	}
}

func (c *Client) isWhole() bool {
	select {
	case <-c.whole:
		return true
	default:
		return false
	}
}

// reach waits until the way is whole.
func (c *Client) reach(ctx context.Context) error {
	c.mu.Lock()
	whole := c.whole
	c.mu.Unlock()
	select {
	case <-whole:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the ring's store does not answer: %w", context.Cause(ctx))
	}
}

// Open implements member.Store.
func (c *Client) Open(ctx context.Context) (member.Session, error) {
	if err := c.reach(ctx); err != nil {
		return nil, err
	}
	s := &session{client: c, server: c.server, changed: make(chan struct{}, 1), ended: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.open = append(slices.DeleteFunc(c.open, func(old *session) bool { return old.over }), s)
	c.server.sessions[s] = struct{}{}
	s.expiry = time.AfterFunc(c.server.timeout, s.expire)
	return s, nil
}

// drop ends a session at the server. The lock is held.
func (s *Server) drop(x *session) {
	if x.over {
		return
	}
	x.over = true
	x.expiry.Stop()
	delete(s.sessions, x)
	for name, r := range s.nodes {
		if r.by == x {
			delete(s.nodes, name)
			s.tell()
		}
	}
	for name, d := range s.said {
		if d.by == x {
			delete(s.said, name)
		}
	}
}

// tell signals every session that is not cut off.
func (s *Server) tell() {
	for x := range s.sessions {
		if x.client.connected() {
			signal(x.changed)
		}
	}
}

func (c *Client) connected() bool {
	if !c.mu.TryLock() {
		return true // it is being cut or healed: a signal too many does no harm
	}
	defer c.mu.Unlock()
	return c.isWhole()
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
