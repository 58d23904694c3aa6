package member

import (
	"context"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// How long a part of a move waits for those of other nodes: a while for each node that has one, and a quarter more by
// chance, so that two that speak at once do not fold at once. Nodes see every 100 ms what they can let go of, so a
// hundred nodes have spoken within the longest wait.
const (
	foldSpread = 5 * time.Millisecond
	maxFold    = 400 * time.Millisecond
)

// Finish reports that this node has done its parts of moves and returns how many of them fitted the table: see
// ring.Table.Finish. Afterwards Table is no older than the one that they are in. After ErrFenced, or while the store is
// away, nothing is known to have counted: call Duties again later.
//
// Where other nodes have parts in moves, too, Finish says beside the table what this node has done, waits up to half a
// second, and then folds what all of them have said into the next table, unless another node was first. So a change of
// a ring of hundreds of nodes is a few tables, each of which every program of every node reads, and not two a node.
// Nobody depends on another to fold: what could not be said, or nobody has folded, its own node folds.
func (m *Member) Finish(ctx context.Context, parts ...ring.Part) (counted int, err error) {
	s, err := m.acting()
	if err != nil {
		return 0, fmt.Errorf("finish %d moves: %w", len(parts), err)
	}
	own := ring.Done{Node: m.cfg.Node.Name, Incarnation: m.incarnation.Load(), Parts: parts}
	counted, folded := m.gather(ctx, s, own)
	if folded {
		return counted, nil
	}
	err = m.change(ctx, func(t *ring.Table) (*ring.Table, error) {
		_, n := t.Finish(own)
		counted = max(counted, n)
		next, _ := t.Finish(append(m.said(ctx, s, t), own)...)
		return next, nil
	})
	if err != nil {
		return 0, fmt.Errorf("finish %d moves: %w", len(parts), err)
	}
	return counted, nil
}

// gather says what this node has done and waits for others to speak. It returns how many of the parts fit the table,
// and whether another node has folded them.
func (m *Member) gather(ctx context.Context, s Session, own ring.Done) (counted int, folded bool) {
	t := m.Table()
	if t == nil {
		return 0, false
	}
	awaited := len(t.Awaited())
	if _, counted = t.Finish(own); counted == 0 || awaited < 2 {
		return counted, false
	}
	if err := m.within(ctx, s, func(ctx context.Context) error { return s.Say(ctx, own) }); err != nil {
		m.log.Debug("what is done of moves could not be said", "error", err)
		return counted, false
	}
	changed, end := m.Watch()
	defer end()
	timer := time.NewTimer(m.foldPause(t.Epoch(), awaited))
	defer timer.Stop()
	for {
		if now := m.Table(); now != t {
			if _, left := now.Finish(own); left == 0 {
				return counted, true
			}
			t = now
		}
		select {
		case <-changed:
		case <-timer.C:
			return counted, false
		case <-ctx.Done():
			return counted, false
		}
	}
}

// foldPause is how long this member waits for others before it folds.
func (m *Member) foldPause(epoch uint64, awaited int) time.Duration {
	d := min(foldSpread*time.Duration(awaited), maxFold)
	return d + d/4*time.Duration(xxh3.HashStringSeed(m.cfg.Node.Name, epoch)>>40)>>24
}

// said returns what other nodes that a table waits for have said. Whoever cannot be read folds by itself.
func (m *Member) said(ctx context.Context, s Session, t *ring.Table) (all []ring.Done) {
	var others []string
	for _, name := range t.Awaited() {
		if name != m.cfg.Node.Name {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	err := m.within(ctx, s, func(ctx context.Context) (err error) {
		all, err = s.Said(ctx, others...)
		return err
	})
	if err != nil {
		m.log.Debug("what other nodes have done of moves could not be read", "error", err)
	}
	return all
}
