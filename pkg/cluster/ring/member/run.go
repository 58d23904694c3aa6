package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// Pauses between attempts to open a session, and how often the log says that it still cannot.
const (
	pauseMin   = 100 * time.Millisecond
	pauseMax   = 5 * time.Second
	openTime   = 10 * time.Second
	remindTime = time.Minute
)

// Run is a member until ctx ends, and then ends the registration. It waits for the store, and opens a new session when
// one has ended. It fails if the stored ring contradicts the configuration.
func (m *Member) Run(ctx context.Context) error {
	var said time.Time
	for pause := pauseMin; ctx.Err() == nil; {
		s, err := m.open(ctx)
		if err == nil {
			pause, said = pauseMin, time.Time{}
			err = m.live(ctx, s)
			m.leave(s)
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // being told to end is no failure
		case errors.Is(err, errHopeless):
			return err
		case errors.Is(err, ErrEnded):
			m.log.Warn("the session with the ring's store is over: this node registers anew", "reason", err)
		case time.Since(said) >= remindTime:
			m.log.Warn("waiting for the ring's store", "reason", err)
			said = time.Now()
		}
		wait(ctx, pause, nil)
		pause = min(2*pause, pauseMax)
	}
	return nil
}

// errHopeless marks what waiting does not help against.
var errHopeless = errors.New("the ring")

func (m *Member) open(ctx context.Context) (Session, error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	return m.store.Open(ctx)
}

// leave ends a session. The fence is up before the registration can go.
func (m *Member) leave(s Session) {
	m.fence.raise()
	m.incarnation.Store(0)
	m.mu.Lock()
	m.session = nil
	m.mu.Unlock()
	m.noteFence()
	if err := s.Close(); err != nil {
		m.log.Warn("closing the session with the ring's store failed", "error", err)
	}
}

// live is a session's life.
func (m *Member) live(ctx context.Context, s Session) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { m.fence.raise() })()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		select {
		case <-s.Ended():
			m.fence.raise() // at once, whatever the others wait for
			return ErrEnded
		case <-ctx.Done():
			return nil
		}
	})
	if m.cfg.Grace < s.Timeout() {
		return fmt.Errorf("%w: grace time %v, and the store grants sessions a timeout of %v: want a grace time of at least "+
			"the timeout, since a node's fetchers may go on for two thirds of it after its registration has gone, and others "+
			"must not take over meanwhile", errHopeless, m.cfg.Grace,
			s.Timeout())
	}
	g.Go(func() error {
		if err := m.register(ctx, s); err != nil {
			return err
		}
		m.mu.Lock()
		m.session = s
		m.mu.Unlock()
		g.Go(func() error { return m.watchFence(ctx) })
		g.Go(func() error { return m.keepAlive(ctx, s) })
		return m.follow(ctx, s)
	})
	return g.Wait()
}

// register waits until the node's name is free and takes it. An observer registers nothing.
func (m *Member) register(ctx context.Context, s Session) error {
	var said bool
	for ctx.Err() == nil {
		sent := m.fence.clock()
		var incarnation uint64
		var err error
		if m.cfg.Node.Name == "" {
			err = m.within(ctx, s, s.Ping)
		} else {
			err = m.within(ctx, s, func(ctx context.Context) (err error) {
				incarnation, err = s.Register(ctx, m.cfg.Node)
				return err
			})
		}
		switch {
		case err == nil:
			m.incarnation.Store(incarnation)
			m.fence.lower(sent, s.Timeout())
			m.log.Info("registered in the ring", "node", m.cfg.Node.Name, "incarnation", incarnation, "timeout", s.Timeout())
			m.noteFence()
			return nil
		case errors.Is(err, ErrEnded):
			return err
		case errors.Is(err, ErrTaken) && !said:
			m.log.Warn("waiting for the name of this node: it is registered by another session, which ends by itself if it "+
				"was this node's; give every node a name of its own", "node", m.cfg.Node.Name, "reason", err)
			said = true
		case errors.Is(err, ErrDenied):
			m.denied(err)
		}
		wait(ctx, s.Timeout()/10, nil)
	}
	return nil
}

// denied says once that the store refuses this program, and again when the reason is another.
func (m *Member) denied(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if text := err.Error(); text != m.denial {
		m.denial = text
		m.log.Error("the ring's store refuses this program; trying again", "node", m.cfg.Node.Name, "reason", err)
	}
}

// within bounds a call to the store.
func (m *Member) within(ctx context.Context, s Session, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout()/3)
	defer cancel()
	return call(ctx)
}

// silence is how long a session that hears nothing is believed to go on some day. The store may never take it again: a
// ZooKeeper that lost its data refuses whoever has seen more of it, and does not say so.
func silence(timeout time.Duration) time.Duration { return max(6*timeout, time.Minute) }

// keepAlive pings the store six times for each timeout, so that three pings may be lost before the fence goes up. It
// also looks for the nodes that callers of Alive ask about. A session that hears nothing for long is given up.
func (m *Member) keepAlive(ctx context.Context, s Session) error {
	heard := m.fence.clock()
	for ; ctx.Err() == nil; wait(ctx, s.Timeout()/6, m.sight.asked) {
		sent := m.fence.clock()
		err := m.within(ctx, s, s.Ping)
		switch {
		case err == nil:
			heard = sent
			m.fence.heard(sent, s.Timeout())
			m.noteFence()
			m.see(ctx, s, sent)
		case errors.Is(err, ErrEnded):
			return fmt.Errorf("registration of %s: %w", m.cfg.Node.Name, err)
		case ctx.Err() == nil && m.fence.clock()-heard >= silence(s.Timeout()):
			return fmt.Errorf("%w: nothing was heard in it for %v: %w", ErrEnded, silence(s.Timeout()), err)
		case ctx.Err() == nil:
			m.log.Debug("no sign of life from the ring's store", "error", err)
		}
	}
	return nil
}

// watchFence notifies the watchers when the fence goes up or a node is no longer seen. Fenced and Alive do not depend
// on it.
func (m *Member) watchFence(ctx context.Context) error {
	for next := time.Duration(0); wait(ctx, max(min(m.Left(), next), m.fencePoll()), nil); {
		m.noteFence()
		next = m.noteSight()
	}
	return nil
}

// fencePoll is how often a fence that is up is looked at.
func (m *Member) fencePoll() time.Duration { return 50 * time.Millisecond }

// noteFence tells the log and the watchers where the fence is another than they know.
func (m *Member) noteFence() {
	m.mu.Lock()
	defer m.mu.Unlock()
	up := m.Fenced()
	if up == m.fenced {
		return
	}
	m.fenced = up
	if up {
		m.log.Warn("fenced: this node leases nothing until it hears from the ring's store", "node", m.cfg.Node.Name)
	} else {
		m.log.Info("not fenced any more", "node", m.cfg.Node.Name)
	}
	m.tellLocked()
}

// wait waits for d or a value of the channel, and reports whether ctx is alive.
func wait(ctx context.Context, d time.Duration, a <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
