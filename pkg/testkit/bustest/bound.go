package bustest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// rebound changes the bound of workers while handlers run: more begin at once, and when it falls those that run end as
// ever, each message once.
func rebound(t *testing.T, in Instance) {
	const few, many, rest = 2, 16, 40
	bound := bus.NewBound(few)
	began, end, ended := make(chan crawl.MessageID, 2*(many+rest)), make(chan struct{}), make(chan struct{}, 2*(many+rest))
	var running, most atomic.Int64
	consumeBy(t, in.Bus, crawl.TopicFetch, bus.Workers{Min: 1, Max: few, Bound: bound}, func(_ context.Context, m bus.Message) error {
		now := running.Add(1)
		for at := most.Load(); now > at && !most.CompareAndSwap(at, now); at = most.Load() {
		}
		began <- m.ID
		<-end
		running.Add(-1)
		ended <- struct{}{}
		return nil
	})
	for i := range many {
		publish(t, in.Bus, lease(i))
	}
	times := map[crawl.MessageID]int{}
	await := func(n int) {
		t.Helper()
		for range n {
			times[Await(t, began, "handler")]++
		}
	}
	await(few)
	if n := most.Load(); n > few {
		t.Errorf("%d handlers at once with a bound of %d", n, few)
	}
	bound.Set(many)
	await(many - few)
	if n := running.Load(); n != many {
		t.Errorf("%d handlers at once after the bound was raised to %d", n, many)
	}
	bound.Set(1)
	for range many {
		end <- struct{}{}
	}
	for range many {
		Await(t, ended, "end of a handler")
	}
	most.Store(0)
	close(end)
	for i := range rest {
		publish(t, in.Bus, lease(many+i))
	}
	await(rest)
	if n := most.Load(); n > 1 {
		t.Errorf("%d handlers at once after the bound fell to 1", n)
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("message %s was handled %d times", id, n)
		}
	}
}
