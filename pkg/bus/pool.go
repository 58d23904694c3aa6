package bus

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// The pool looks at its queue every poolTick while it grows and every poolRest otherwise. At each look after the queue
// was empty for poolQuiet it ends one worker. So it grows within tens of milliseconds and shrinks within seconds, and
// an idle program sleeps.
const (
	poolTick  = 10 * time.Millisecond
	poolRest  = 100 * time.Millisecond
	poolQuiet = 2 * time.Second
)

// RunPool handles the values of queue with w.Min to w.Most() goroutines until ctx is done, and returns when they have
// ended. Their number doubles at each look that finds values waiting, and falls by one if none came for two seconds.
// Where the bound falls, those that are too many end with the value that they handle.
//
// A handler may never return: a call to detach, once and from any goroutine, lets another goroutine take its place, and
// RunPool no longer waits for it.
func RunPool[T any](ctx context.Context, w Workers, queue <-chan T, h func(v T, detach func())) {
	p := &pool[T]{workers: w, queue: queue, handle: h, quit: make(chan struct{})}
	least := int64(w.Min)
	p.grow(ctx, min(least, int64(w.Most())))
	look := time.NewTimer(poolTick)
	defer look.Stop()
	busy := time.Now() // when messages waited last
	for {
		select {
		case <-ctx.Done():
			p.wg.Wait()
			return
		case <-look.C:
		}
		next, size, most := poolRest, p.size.Load(), int64(w.Most())
		switch waiting := int64(len(queue)); {
		case size > most:
			p.shrink() // an idle one: those that handle something see it themselves
			next = poolTick
		case size < min(least, most): // the bound has risen again
			p.grow(ctx, min(least, most)-size)
		case waiting > 0:
			busy = time.Now()
			p.grow(ctx, min(max(size, 1), waiting, most-size))
			if p.size.Load() < most {
				next = poolTick
			}
		case size > least && time.Since(busy) >= poolQuiet:
			p.shrink()
		}
		look.Reset(next)
	}
}

type pool[T any] struct {
	workers Workers
	queue   <-chan T
	handle  func(v T, detach func())
	quit    chan struct{}
	size    atomic.Int64
	wg      sync.WaitGroup
}

func (p *pool[T]) grow(ctx context.Context, n int64) {
	for range n {
		p.size.Add(1)
		p.wg.Add(1)
		go p.work(ctx)
	}
}

// shrink lets one idle worker go; where all are busy it lets none.
func (p *pool[T]) shrink() {
	select {
	case p.quit <- struct{}{}:
		p.size.Add(-1)
	default:
	}
}

// spare reports whether the worker that asks is one too many, and counts it out then.
func (p *pool[T]) spare() bool {
	for {
		size := p.size.Load()
		if size <= int64(p.workers.Most()) {
			return false
		}
		if p.size.CompareAndSwap(size, size-1) {
			return true
		}
	}
}

// work handles messages until it is to end, or was detached: then the goroutine that took its place is waited for.
func (p *pool[T]) work(ctx context.Context) {
	var gone atomic.Bool
	defer func() {
		if !gone.Load() {
			p.wg.Done()
		}
	}()
	detach := func() {
		gone.Store(true)
		go p.work(ctx)
	}
	for !gone.Load() {
		v, ok := p.next(ctx)
		if !ok {
			return
		}
		p.handle(v, detach)
	}
}

// next returns the next value; ok is false if the worker is to end. It tries a busy queue first: this costs a quarter
// of a select over three channels.
func (p *pool[T]) next(ctx context.Context) (v T, ok bool) {
	if p.spare() {
		return v, false
	}
	if ctx.Err() == nil {
		select {
		case v = <-p.queue:
			return v, true
		default:
		}
	}
	select {
	case <-ctx.Done():
		return v, false
	case <-p.quit:
		return v, false
	case v = <-p.queue:
		return v, true
	}
}
