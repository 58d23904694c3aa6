package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// call is a call that is under way, and the context of its handler.
type call struct {
	leash
	values context.Context // of the delivery
	id     crawl.MessageID
	event  crawl.Event

	attempt   int
	began     time.Time
	ended     time.Time // since when the context is known to have ended; zero: it has not
	by        bus.Abandoner
	abandoned bool
}

// leash is a context that the watch can end. One serves many calls, one after the other: making one for each would take
// the lock of the context above twice a message.
type leash struct {
	context.Context
	life   context.Context // the context above
	cancel context.CancelCauseFunc
}

// Value returns that of the leash first: package context knows its own by a value.
func (w *call) Value(key any) any {
	if v := w.leash.Value(key); v != nil {
		return v
	}
	return w.values.Value(key)
}

// enter gives a call its leash, and the watch the call. It refuses a message whose abandoned call is under way.
//
//nolint:contextcheck // a call has the context of its message
func (c *calls[In]) enter(w *call) error {
	life := w.by.Life()
	c.mu.Lock()
	defer c.mu.Unlock()
	if began, ok := c.abandoned[w.id]; ok {
		return &cutError{fmt.Errorf("its handler was called %v ago and has not returned",
			time.Since(began).Round(time.Second))}
	}
	if last := len(c.leashes) - 1; last >= 0 && c.leashes[last].life == life {
		w.leash, c.leashes = c.leashes[last], c.leashes[:last]
	} else {
		w.leash = newLeash(life)
	}
	c.active[w] = struct{}{}
	return nil
}

func newLeash(life context.Context) leash {
	ctx, cancel := context.WithCancelCause(life)
	return leash{ctx, life, cancel}
}

// leave ends a call, and reports whether it was abandoned.
func (c *calls[In]) leave(w *call) (abandoned bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.active, w)
	if w.abandoned {
		delete(c.abandoned, w.id)
	}
	if w.Err() != nil {
		w.cancel(nil)
		return w.abandoned
	}
	if len(c.leashes) > 0 && c.leashes[0].life != w.life { // the consumer began anew
		clear(c.leashes)
		c.leashes = c.leashes[:0]
	}
	c.leashes = append(c.leashes, w.leash)
	return w.abandoned
}

// watchParts is into how many parts of the shorter of limit and grace the watch divides its looks.
const watchParts = 16

// watch cuts off the calls that take longer than the limit, and abandons those that do not return within the grace
// after their context ended, until stop is closed. Time in which the calls are held does not count, except after that.
//
//nolint:contextcheck // calls have the contexts of their messages
func (c *calls[In]) watch(stop <-chan struct{}, held func() bool, abandon func(*call, error)) {
	tick := time.NewTicker(max(min(c.limit, grace)/watchParts, time.Millisecond))
	defer tick.Stop()
	looked := time.Now()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		now := time.Now()
		if held != nil && held() {
			c.forgive(now, now.Sub(looked))
		}
		looked = now
		for _, w := range c.overdue(now) {
			abandon(w, &cutError{fmt.Errorf("its handler did not return %v after its context had ended (%w)", grace,
				context.Cause(w.leash))})
		}
	}
}

// forgive takes time off the age of the calls that are under way.
func (c *calls[In]) forgive(now time.Time, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.active {
		if w.began = w.began.Add(d); w.began.After(now) {
			w.began = now
		}
	}
}

// overdue ends the contexts of the calls whose time is over, and returns those to be abandoned.
func (c *calls[In]) overdue(now time.Time) (late []*call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.active {
		if now.Sub(w.began) >= c.limit {
			w.cancel(errLimit)
		}
		switch {
		case w.Err() == nil:
		case w.ended.IsZero():
			w.ended = now
		case now.Sub(w.ended) >= grace:
			w.abandoned = true
			c.abandoned[w.id] = w.began
			delete(c.active, w)
			late = append(late, w)
		}
	}
	return late
}
