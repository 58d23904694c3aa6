package stage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Over a bus that can do without a handler's return, the handler is called by the bus's own worker: handing each
// message to another goroutine and back costs more than most handlers. A watch looks after the calls that are under
// way.

// watched is a call that is under way.
type watched struct {
	id      crawl.MessageID
	attempt int
	began   time.Time
	cancel  context.CancelCauseFunc
	abandon func(error) bool
	given   bool // it was left to itself
}

// inline calls the handler on the caller's goroutine.
func (c *callers[In]) inline(ctx context.Context, in In, id crawl.MessageID, abandon func(error) bool) ([]crawl.Event, error) {
	if began, lost := c.isLost(id); lost {
		return nil, &cutError{fmt.Errorf("its handler was called %v ago and has not returned", time.Since(began).Round(time.Second))}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &watched{id: id, attempt: DeliveryOf(ctx).Attempt, began: time.Now(), cancel: cancel, abandon: abandon}
	c.mu.Lock()
	c.active[w] = struct{}{}
	c.mu.Unlock()
	a := c.handle(ctx, in)
	c.mu.Lock()
	delete(c.active, w)
	if w.given {
		delete(c.lost, id)
	}
	given := w.given
	c.mu.Unlock()
	switch {
	case given:
		return nil, errGiven
	case a.err != nil && errors.Is(context.Cause(ctx), errLimit):
		return nil, &cutError{a.err}
	}
	return a.out, a.err
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
