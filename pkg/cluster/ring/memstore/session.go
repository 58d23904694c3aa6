package memstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
)

var (
	_ member.Store   = (*Client)(nil)
	_ member.Session = (*session)(nil)
)

// session implements member.Session.
type session struct {
	client  *Client
	server  *Server
	changed chan struct{}
	ended   chan struct{}
	endOnce sync.Once
	closed  bool // by the client

	// of the server
	expiry *time.Timer
	over   bool
}

func (s *session) end() { s.endOnce.Do(func() { close(s.ended) }) }

// expire is the server's: its timeout has passed.
func (s *session) expire() {
	s.client.mu.Lock()
	whole := s.client.isWhole()
	s.client.mu.Unlock()
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.drop(s)
	if whole {
		s.end()
	}
}

// call runs a request at the server, where it counts as a sign of life.
func (s *session) call(ctx context.Context, request func() error) error {
	if err := s.client.reach(ctx); err != nil {
		return err
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.over || s.closed {
		s.end()
		return member.ErrEnded
	}
	s.expiry.Reset(s.server.timeout)
	return request()
}

// Timeout implements member.Session.
func (s *session) Timeout() time.Duration { return s.server.timeout }

// Register implements member.Session.
func (s *session) Register(ctx context.Context, n ring.Node) (incarnation uint64, err error) {
	err = s.call(ctx, func() error {
		r, taken := s.server.nodes[n.Name]
		if taken && r.by != s {
			return fmt.Errorf("%w, at %s", member.ErrTaken, r.node.Address)
		}
		if !taken {
			s.server.last++
			n.Incarnation = s.server.last
			r = registration{n, s}
			s.server.nodes[n.Name] = r
			s.server.tell()
		}
		incarnation = r.node.Incarnation
		return nil
	})
	return incarnation, err
}

// Registration implements member.Session.
func (s *session) Registration(ctx context.Context, name string) (n ring.Node, ok bool, err error) {
	err = s.call(ctx, func() error {
		r, there := s.server.nodes[name]
		n, ok = r.node, there
		return nil
	})
	return n, ok, err
}

// Ping implements member.Session.
func (s *session) Ping(ctx context.Context) error { return s.call(ctx, func() error { return nil }) }

// Read implements member.Session.
func (s *session) Read(ctx context.Context) (v member.View, err error) {
	err = s.call(ctx, func() error {
		v = member.View{Table: s.server.table, Version: s.server.version, Present: map[string]struct{}{}}
		for name := range s.server.nodes {
			v.Present[name] = struct{}{}
		}
		return nil
	})
	return v, err
}

// Write implements member.Session.
func (s *session) Write(ctx context.Context, t *ring.Table, over member.View) error {
	return s.call(ctx, func() error {
		if (over.Table == nil) != (s.server.table == nil) || over.Version != s.server.version {
			return member.ErrConflict
		}
		s.server.table = t
		s.server.version++
		s.server.writes++
		s.server.tell()
		return nil
	})
}

// Say implements member.Session.
func (s *session) Say(ctx context.Context, d ring.Done) error {
	return s.call(ctx, func() error {
		s.server.said[d.Node] = saying{d, s}
		s.server.sayings++
		return nil
	})
}

// Said implements member.Session.
func (s *session) Said(ctx context.Context, nodes ...string) (all []ring.Done, err error) {
	err = s.call(ctx, func() error {
		for _, name := range nodes {
			if x, there := s.server.said[name]; there {
				all = append(all, x.done)
			}
		}
		return nil
	})
	return all, err
}

// Changed implements member.Session.
func (s *session) Changed() <-chan struct{} { return s.changed }

// Ended implements member.Session.
func (s *session) Ended() <-chan struct{} { return s.ended }

// Close implements member.Session.
func (s *session) Close() error {
	s.client.mu.Lock()
	whole := s.client.isWhole()
	s.client.mu.Unlock()
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.closed = true
	s.end()
	if !whole {
		return nil // the server will see by itself
	}
	s.server.drop(s)
	return nil
}
