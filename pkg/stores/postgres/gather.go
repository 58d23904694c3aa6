package postgres

import (
	"context"
	"errors"
	"sync"
	"time"
)

// gather batches concurrent writes: while one group is written, the next one fills. A caller that gives up does not
// affect the others: the group is written under a context of its own.
type gather[T any] struct {
	write  func(ctx context.Context, items []T) error
	linger time.Duration // how long a group waits for more items
	most   int           // items of a group that others may join; 0: maxGroup

	mu     sync.Mutex
	next   *group[T] // that fills; nil: none
	busy   bool      // a group is being written
	closed bool
	idle   sync.WaitGroup // the writing
}

type group[T any] struct {
	items []T
	done  chan struct{}
	err   error
}

// maxGroup bounds the items of a group that others may join, where most does not. A call is never split.
const maxGroup = 2000

var errClosed = errors.New("the store is closed")

// do returns when the items are written.
func (g *gather[T]) do(ctx context.Context, items []T) error {
	if len(items) == 0 {
		return nil
	}
	for {
		mine, full, err := g.join(items)
		if err != nil {
			return err
		}
		select {
		case <-mine.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !full {
			return mine.err
		}
	}
}

// join adds the items to the group that fills; if it is full, it returns that group to wait for.
func (g *gather[T]) join(items []T) (of *group[T], full bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, false, errClosed
	}
	if g.next == nil {
		g.next = &group[T]{done: make(chan struct{})}
	}
	of = g.next
	most := maxGroup
	if g.most > 0 {
		most = g.most
	}
	if len(of.items) > 0 && len(of.items)+len(items) > most {
		return of, true, nil
	}
	of.items = append(of.items, items...)
	if !g.busy {
		g.busy = true
		g.idle.Go(g.run)
	}
	return of, false, nil
}

// run writes groups until none is left.
func (g *gather[T]) run() {
	for {
		g.wait()
		g.mu.Lock()
		of := g.next
		g.next, g.busy = nil, of != nil
		g.mu.Unlock()
		if of == nil {
			return
		}
		of.err = g.write(context.Background(), of.items)
		close(of.done)
	}
}

// A group that lingers waits again until it has enough items, so often at most.
const enough, lingers = 16, 4

// wait lets the group that fills linger, where there is one.
func (g *gather[T]) wait() {
	for range lingers {
		g.mu.Lock()
		pause := g.linger > 0 && g.next != nil && len(g.next.items) < enough && !g.closed
		g.mu.Unlock()
		if !pause {
			return
		}
		time.Sleep(g.linger)
	}
}

// close refuses further items and waits for those that came.
func (g *gather[T]) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.idle.Wait()
}
