package bustest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// gated is a handler that begins and ends when the test says, and counts how many run at once.
type gated struct {
	began         chan crawl.MessageID
	end, ended    chan struct{}
	running, most atomic.Int64
	times         map[crawl.MessageID]int
}

func (g *gated) handle(_ context.Context, m bus.Message) error {
	now := g.running.Add(1)
	for at := g.most.Load(); now > at && !g.most.CompareAndSwap(at, now); at = g.most.Load() {
	}
	g.began <- m.ID
	<-g.end
	g.running.Add(-1)
	g.ended <- struct{}{}
	return nil
}

// await waits until so many have begun.
func (g *gated) await(t *testing.T, n int) {
	t.Helper()
	for range n {
		g.times[Await(t, g.began, "handler")]++
	}
}

// rebound changes the bound of workers while handlers run: more begin at once, and when it falls those that run end as
// ever, each message once.
func rebound(t *testing.T, in Instance) {
	const few, many, rest = 2, 16, 40
	const room = 2 * (many + rest)
	bound := bus.NewBound(few)
	g := &gated{began: make(chan crawl.MessageID, room), end: make(chan struct{}), ended: make(chan struct{}, room),
		times: map[crawl.MessageID]int{}}
	consumeBy(t, in.Bus, crawl.TopicFetch, bus.Workers{Min: 1, Max: few, Bound: bound}, g.handle)
	for i := range many {
		publish(t, in.Bus, lease(i))
	}
	g.await(t, few)
	if n := g.most.Load(); n > few {
		t.Errorf("%d handlers at once with a bound of %d", n, few)
	}
	bound.Set(many)
	g.await(t, many-few)
	if n := g.running.Load(); n != many {
		t.Errorf("%d handlers at once after the bound was raised to %d", n, many)
	}
	bound.Set(1)
	for range many {
		g.end <- struct{}{}
	}
	for range many {
		Await(t, g.ended, "end of a handler")
	}
	g.most.Store(0)
	close(g.end)
	for i := range rest {
		publish(t, in.Bus, lease(many+i))
	}
	g.await(t, rest)
	if n := g.most.Load(); n > 1 {
		t.Errorf("%d handlers at once after the bound fell to 1", n)
	}
	for id, n := range g.times {
		if n != 1 {
			t.Errorf("message %s was handled %d times", id, n)
		}
	}
}
