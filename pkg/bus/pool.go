package bus

import (
	"context"
	"sync"
	"time"
)

// The pool looks at its queue this often, and lets a worker go after the queue was empty this many looks in a row: growing
// takes tens of milliseconds, shrinking seconds.
const (
	poolTick  = 10 * time.Millisecond
	poolQuiet = 200
)

// RunPool handles what arrives in queue by w.Min to w.Max goroutines until ctx is done, and returns when they have
// ended. The number doubles at each look that finds messages waiting, and falls by one when none came for two seconds.
func RunPool[T any](ctx context.Context, w Workers, queue <-chan T, h func(T)) {
	p := &pool[T]{queue: queue, handle: h, quit: make(chan struct{})}
	p.grow(ctx, w.Min)
	tick := time.NewTicker(poolTick)
	defer tick.Stop()
	quiet := 0
	for {
		select {
		case <-ctx.Done():
			p.wg.Wait()
			return
		case <-tick.C:
		}
		switch waiting := len(queue); {
		case waiting > 0:
			quiet = 0
			p.grow(ctx, min(p.size, waiting, w.Max-p.size))
		case p.size > w.Min:
			if quiet++; quiet >= poolQuiet {
				p.shrink()
			}
		}
	}
}

type pool[T any] struct {
	queue  <-chan T
	handle func(T)
	quit   chan struct{}
	size   int
	wg     sync.WaitGroup
}

func (p *pool[T]) grow(ctx context.Context, n int) {
	for range n {
		p.size++
		p.wg.Go(func() { p.work(ctx) })
	}
}

// shrink lets one idle worker go; where all are busy it lets none.
func (p *pool[T]) shrink() {
	select {
	case p.quit <- struct{}{}:
		p.size--
	default:
	}
}

func (p *pool[T]) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.quit:
			return
		case v := <-p.queue:
			p.handle(v)
		}
	}
}
