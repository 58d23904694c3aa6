package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Bounds of following.
const (
	maxJoins = 64                   // unknown registrations that are read, and joined, at once
	spread   = 2 * time.Millisecond // a member's turn to write is this times their number, at most
	maxTurn  = 2 * time.Second
)

// follower is what a member remembers from one look at the store to the next, within a session.
type follower struct {
	m       *Member
	s       Session
	missing map[absence]time.Duration // since when, on the member's clock
	epoch   uint64                    // at which a change was found to be due
	turn    time.Duration             // when this member makes it
	tries   int                       // conflicts since the last success
	// complaint is what the log heard last of nodes that cannot join.
	complaint string
}

// absence is a registration that is missing.
type absence struct {
	name        string
	incarnation uint64
}

// follow reads the store after every sign of a change and makes the changes that are due, until the session or ctx
// ends.
func (m *Member) follow(ctx context.Context, s Session) error {
	f := &follower{m: m, s: s, missing: map[absence]time.Duration{}}
	for ctx.Err() == nil {
		next, err := f.look(ctx)
		switch {
		case errors.Is(err, ErrEnded), errors.Is(err, errHopeless):
			return err
		case errors.Is(err, ErrDenied):
			m.denied(err)
			next = s.Timeout() / 10
		case err != nil && ctx.Err() == nil:
			m.log.Debug("the ring's store could not be read", "error", err)
			next = s.Timeout() / 10
		}
		wait(ctx, min(next, s.Timeout()), s.Changed())
	}
	return nil
}

// look reads the store once, does what is due, and says when to look again at the latest.
func (f *follower) look(ctx context.Context) (next time.Duration, err error) {
	var v View
	err = f.m.within(ctx, f.s, func(ctx context.Context) (err error) {
		v, err = f.s.Read(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	f.m.sight.absent(v.Present)
	f.m.noteSight()
	if v.Table == nil && f.m.Table() != nil {
		return 0, fmt.Errorf("%w: %w", errHopeless, errReplaced)
	}
	if v.Table == nil {
		return f.create(ctx, v)
	}
	if v.Table.Partition() != f.m.cfg.Partition && f.m.cfg.Node.Name != "" {
		return 0, fmt.Errorf("%w is partitioned by %s and this node is configured for %s: all nodes need the same",
			errHopeless, v.Table.Partition(), f.m.cfg.Partition)
	}
	if err := f.m.adopt(v.Table); err != nil {
		return 0, fmt.Errorf("%w: %w", errHopeless, err)
	}
	if f.m.cfg.Node.Name == "" || f.m.Fenced() {
		return f.s.Timeout(), nil
	}
	return f.act(ctx, v)
}

// create makes the ring where this member is to.
func (f *follower) create(ctx context.Context, v View) (time.Duration, error) {
	c := f.m.cfg
	if c.Vnodes == 0 || c.Node.Name == "" || f.m.Fenced() {
		return f.s.Timeout(), nil
	}
	if c.Seed == 0 {
		c.Seed = NewSeed()
	}
	t, err := ring.Create(c.Vnodes, c.Partition, c.Seed)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errHopeless, err)
	}
	err = f.m.within(ctx, f.s, func(ctx context.Context) error { return f.s.Write(ctx, t, v) })
	if err == nil {
		f.m.log.Info("created the ring", "vnodes", c.Vnodes, "partition", c.Partition)
	}
	if errors.Is(err, ErrConflict) {
		err = nil
	}
	return 0, err
}

// act makes the change that the registrations ask for, when it is this member's turn.
func (f *follower) act(ctx context.Context, v View) (time.Duration, error) {
	seen, next, err := f.seen(ctx, v)
	if err != nil {
		return 0, err
	}
	t, err := v.Table.Reconcile(seen)
	f.complain(err)
	if t == v.Table {
		f.tries = 0
		return next, nil
	}
	now := f.m.fence.clock()
	if f.epoch != t.Epoch() {
		f.epoch, f.turn = t.Epoch(), now+f.pause(t.Epoch(), len(v.Present))
	}
	if left := f.turn - now; left > 0 {
		return left, nil
	}
	if f.m.Fenced() {
		return f.s.Timeout(), nil
	}
	err = f.m.within(ctx, f.s, func(ctx context.Context) error { return f.s.Write(ctx, t, v) })
	f.epoch = 0
	switch {
	case errors.Is(err, ErrConflict):
		f.tries++
		return 0, nil
	case err != nil:
		return 0, err
	}
	f.tries = 0
	f.say(v.Table, t)
	return 0, f.m.adopt(t)
}

// complain logs who cannot join, once.
func (f *follower) complain(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != f.complaint && text != "" {
		f.m.log.Error("a node cannot join the ring", "error", err)
	}
	f.complaint = text
}

// seen puts together what the registrations say, and when they will say more.
func (f *follower) seen(ctx context.Context, v View) (s ring.Seen, next time.Duration, err error) {
	self := f.m.cfg.Node
	self.Incarnation = f.m.incarnation.Load()
	s = ring.Seen{Registered: []ring.Node{self}, Present: v.Present, Dead: map[string]uint64{}}
	next = f.s.Timeout()
	now := f.m.fence.clock()
	missing := map[absence]time.Duration{}
	for _, n := range v.Table.Nodes() {
		if _, present := v.Present[n.Name]; present || n.State == ring.Gone {
			continue
		}
		a := absence{n.Name, n.Incarnation}
		since, known := f.missing[a]
		if !known {
			since = now
		}
		missing[a] = since
		if left := since + f.m.cfg.Grace - now; left <= 0 {
			s.Dead[n.Name] = n.Incarnation
		} else {
			next = min(next, left)
		}
	}
	f.missing = missing
	for name := range v.Present {
		if _, known := v.Table.Node(name); known || name == self.Name || len(s.Registered) > maxJoins {
			continue
		}
		var n ring.Node
		var ok bool
		err := f.m.within(ctx, f.s, func(ctx context.Context) (err error) {
			n, ok, err = f.s.Registration(ctx, name)
			return err
		})
		if err != nil {
			return s, 0, err
		}
		if ok && n.Validate() == nil {
			s.Registered = append(s.Registered, n)
		}
	}
	return s, next, nil
}

// pause is how long this member lets others go first: a part of a common interval, chosen by its name and the epoch. It
// is longer after conflicts.
func (f *follower) pause(epoch uint64, members int) time.Duration {
	most := min(spread*time.Duration(members)<<min(f.tries, 6), maxTurn)
	part := xxh3.HashStringSeed(f.m.cfg.Node.Name, epoch^uint64(f.tries)<<56) >> 40 // 24 bits
	return most * time.Duration(part) >> 24
}

// say logs what a change was about.
func (f *follower) say(before, after *ring.Table) {
	for _, n := range after.Nodes() {
		was, known := before.Node(n.Name)
		switch {
		case !known || was.State == ring.Gone && n.State != ring.Gone:
			f.m.log.Info("a node joins the ring", "node", n.Name, "address", n.Address, "weight", n.Weight,
				"epoch", after.Epoch())
		case was.Incarnation != n.Incarnation && n.State != ring.Gone:
			f.m.log.Info("a node is back in the ring", "node", n.Name, "address", n.Address, "epoch", after.Epoch())
		}
	}
	for _, n := range before.Nodes() {
		if is, known := after.Node(n.Name); n.State != ring.Gone && (!known || is.State == ring.Gone && is.Incarnation == 0) {
			f.m.log.Warn("a node is dead: the others recover what it owned", "node", n.Name, "address", n.Address,
				"grace", f.m.cfg.Grace, "epoch", after.Epoch())
		}
	}
}
