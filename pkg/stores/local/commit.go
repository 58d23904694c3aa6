package local

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// groups merges operations that arrive at the same time into one batch B, written at once. The first operation of a
// group leads: it waits until the group before is written, and meanwhile others join. So a lone operation is written at
// once by its own goroutine, and under load a group is what arrived during the last write.
//
// Groups are written in the order in which they were opened, operations within a group in the order in which they
// joined.
type groups[B any] struct {
	fresh func() B
	seal  func(B) // may be nil; called with mu held when a group is closed to further operations
	write func(B) error
	pace  func()          // may be nil; called by the leader before it closes its group, to let more operations join
	gone  <-chan struct{} // closed when no group will be written any more, not even one that is being written; may be nil

	mu   sync.Mutex
	open *group[B]
	err  error // what broke the store

	turn sync.Mutex // held by the leader that writes
}

type group[B any] struct {
	batch B
	led   bool
	done  chan struct{}
	err   error
}

// ticket is an operation's place in a group. Its holder must wait for it.
type ticket[B any] struct {
	of   *groups[B]
	g    *group[B]
	lead bool
	err  error
}

// join adds what fill puts into the batch. fill runs under a lock: it must be short.
func (c *groups[B]) join(fill func(b B)) ticket[B] {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.add(fill)
	if g == nil {
		return ticket[B]{err: c.err}
	}
	lead := !g.led
	g.led = true
	return ticket[B]{of: c, g: g, lead: lead}
}

// later adds what fill puts into the batch to whatever group is written next; flush writes what no caller waits for.
func (c *groups[B]) later(fill func(b B)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(fill)
	return c.err
}

// add joins the open group, with mu held; nil when the store is broken.
func (c *groups[B]) add(fill func(b B)) *group[B] {
	if c.err != nil {
		return nil
	}
	if c.open == nil {
		c.open = &group[B]{batch: c.fresh(), done: make(chan struct{})}
	}
	fill(c.open.batch)
	return c.open
}

// do is join and wait. What fill added will be written whatever happens to ctx.
func (c *groups[B]) do(ctx context.Context, fill func(b B)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.join(fill).wait()
}

// flush writes what later left.
func (c *groups[B]) flush() error {
	c.mu.Lock()
	idle := c.open == nil
	c.mu.Unlock()
	if idle {
		return nil
	}
	return c.join(func(B) {}).wait()
}

// wait returns when the ticket's group is written.
func (t ticket[B]) wait() error {
	if t.g == nil {
		return t.err
	}
	if t.lead {
		t.of.leadGroup(t.g)
		return t.g.err
	}
	select {
	case <-t.g.done:
		return t.g.err
	case <-t.of.gone:
		return t.of.failure()
	}
}

// failure is what broke the store.
func (c *groups[B]) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return errBroken // it is being said
	}
	return c.err
}

var errBroken = errors.New("the store is broken")

func (c *groups[B]) leadGroup(g *group[B]) {
	c.turn.Lock()
	defer c.turn.Unlock()
	defer close(g.done)
	if c.pace != nil {
		c.pace()
	}
	if g.err = c.closeGroup(g); g.err == nil {
		g.err = c.write(g.batch)
	}
}

func (c *groups[B]) closeGroup(g *group[B]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = nil
	if c.err == nil && c.seal != nil {
		c.seal(g.batch)
	}
	return c.err
}

// fault is what makes every operation fail; nil: nothing does.
func (c *groups[B]) fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// fail makes every further operation return err.
func (c *groups[B]) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

// committer writes groups of operations to Pebble.
type committer = groups[*pebble.Batch]

// commitBatch commits a group's batch. A commit that Pebble cannot survive does not return: see pebbleLogger.Fatalf.
func (s *Store) commitBatch(b *pebble.Batch) error {
	if b.Empty() {
		return b.Close()
	}
	if err := b.Commit(pebble.Sync); err != nil {
		return s.orBreak(fmt.Errorf("commit %d bytes to the state of %s: %w", b.Len(), s.dir, err))
	}
	return b.Close()
}
