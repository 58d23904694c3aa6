package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Over a bus that can do without a handler's return, the handler is called by the bus's own worker: handing each
// message to another goroutine and back costs more than most handlers. A watch looks after the calls that are under
// way.

// watched is a call that is under way, and the context of its handler.
type watched struct {
	leash
	values context.Context // of the delivery
	id     crawl.MessageID

	attempt int
	began   time.Time
	abandon bus.Abandoner
	given   bool // it was left to itself
}

// leash is a context that the watch can end. One serves many calls, one after the other: making one for each would take
// the lock of the stage's context twice a message.
type leash struct {
	context.Context
	cancel context.CancelCauseFunc
}

// Value returns that of the leash first: package context knows its own by a value.
func (w *watched) Value(key any) any {
	if v := w.leash.Value(key); v != nil {
		return v
	}
	return w.values.Value(key)
}

// inline calls the handler on the caller's goroutine.
func (c *callers[In]) inline(ctx context.Context, in In, id crawl.MessageID, abandon bus.Abandoner) ([]crawl.Event, error) {
	if began, lost := c.isLost(id); lost {
		return nil, &cutError{fmt.Errorf("its handler was called %v ago and has not returned", time.Since(began).Round(time.Second))}
	}
	w := &watched{values: ctx, id: id, attempt: DeliveryOf(ctx).Attempt, began: time.Now(), abandon: abandon}
	c.enter(w)
	a := c.handle(w, in)
	given := c.leave(w)
	switch {
	case given:
		return nil, errGiven
	case a.err != nil && errors.Is(context.Cause(w.Context), errLimit):
		return nil, &cutError{a.err}
	}
	return a.out, a.err
}

// enter gives a call its leash, and the watch the call.
func (c *callers[In]) enter(w *watched) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := len(c.leashes) - 1; last >= 0 {
		w.leash, c.leashes = c.leashes[last], c.leashes[:last]
	} else {
		w.Context, w.cancel = context.WithCancelCause(c.base)
	}
	c.active[w] = struct{}{}
}

// leave ends a call, and reports whether it was given up.
func (c *callers[In]) leave(w *watched) (given bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.active, w)
	if w.given {
		delete(c.lost, w.id)
	}
	if w.Err() == nil {
		c.leashes = append(c.leashes, w.leash)
	}
	return w.given
}

// errGiven is returned by a call that nobody waits for any more.
var errGiven = errors.New("the message was given up before its handler returned")

// watchParts is into how many parts of its limit the watch divides its looks.
const watchParts = 16

// watch cuts off the calls that take longer than the limit, and gives up those that do not return then, until stop is
// closed. When ctx has ended, it gives up whatever does not return within the grace. Time in which the calls are
// held does not count, but after the end of ctx it does.
func (c *callers[In]) watch(ctx context.Context, stop <-chan struct{}, held func() bool, giveUp func(*watched, error)) {
	tick := time.NewTicker(max(c.limit/watchParts, time.Millisecond))
	defer tick.Stop()
	ended := ctx.Done()
	var stopped time.Time
	looked := time.Now()
	for {
		select {
		case <-stop:
			return
		case <-ended:
			ended, stopped = nil, time.Now()
			tick.Reset(max(c.grace/watchParts, time.Millisecond))
			continue
		case <-tick.C:
		}
		now := time.Now()
		if held != nil && held() {
			c.forgive(now, now.Sub(looked))
		}
		looked = now
		for _, w := range c.overdue(now, stopped) {
			giveUp(w, &cutError{fmt.Errorf("its handler did not return %v after its context had ended", c.grace)})
		}
	}
}

// forgive takes time off the age of the calls that are under way.
func (c *callers[In]) forgive(now time.Time, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.active {
		if w.began = w.began.Add(d); w.began.After(now) {
			w.began = now
		}
	}
}

// overdue ends the contexts of the calls whose time is over, and returns those to be given up.
func (c *callers[In]) overdue(now, stopped time.Time) (give []*watched) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.active {
		age := now.Sub(w.began)
		if age >= c.limit {
			w.cancel(errLimit)
		}
		if age >= c.limit+c.grace || !stopped.IsZero() && now.Sub(stopped) >= c.grace {
			w.given = true
			c.lost[w.id] = w.began
			delete(c.active, w)
			give = append(give, w)
		}
	}
	return give
}
