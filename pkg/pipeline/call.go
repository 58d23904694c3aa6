package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// grace is how long a handler whose context has ended may take to return. One that takes longer is left to itself.
const grace = 10 * time.Second

// maxCuts is how often a message may cost its stage the whole limit before it is buried.
const maxCuts = 3

// maxIdle bounds the callers that wait for work: others end.
const maxIdle = 32

// callers call handlers on goroutines of their own, so that one that never returns costs its stage a goroutine and not
// a worker.
//
// A message whose call was left to itself is not handled again while that call is under way: the effects of a handler
// may be repeated, but not made by two at once that know nothing of each other. When it has come so often it is buried
// all the same, and nobody waits for it any more.
type callers[In crawl.Event] struct {
	stage   string
	handler Handler[In]
	limit   time.Duration
	grace   time.Duration
	idle    chan *caller[In]

	mu   sync.Mutex
	lost map[crawl.MessageID]time.Time // calls that were left to themselves, and when they began
	// active are the calls that the watch looks after, leashes those that wait for the next call: see inline.
	active  map[*watched]struct{}
	leashes []leash
	base    context.Context // that of the stage
}

// caller is a goroutine that calls a handler for one message after the other: a new one for each would grow its stack
// anew.
type caller[In crawl.Event] struct {
	work chan call[In]
	done chan answer
}

type call[In crawl.Event] struct {
	ctx context.Context
	in  In
}

type answer struct {
	out []crawl.Event
	err error
}

func newCallers[In crawl.Event](ctx context.Context, stage string, h Handler[In], limit time.Duration) *callers[In] {
	return &callers[In]{base: ctx, stage: stage, handler: h, limit: limit, grace: grace, idle: make(chan *caller[In], maxIdle), lost: map[crawl.MessageID]time.Time{},
		active: map[*watched]struct{}{}}
}

// close ends the callers that wait. Nothing may be called after.
func (c *callers[In]) close() {
	for {
		select {
		case idle := <-c.idle:
			close(idle.work)
		default:
			return
		}
	}
}

// call calls the handler, within the limit if there is one.
func (c *callers[In]) call(ctx context.Context, in In, id crawl.MessageID) ([]crawl.Event, error) {
	if c.limit <= 0 {
		a := c.handle(ctx, in)
		return a.out, a.err
	}
	if a, ok := ctx.Value(bus.AbandonKey{}).(bus.Abandoner); ok {
		return c.inline(ctx, in, id, a)
	}
	if began, lost := c.isLost(id); lost {
		return nil, &cutError{fmt.Errorf("its handler was called %v ago and has not returned", time.Since(began).Round(time.Second))}
	}
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, c.limit, errLimit)
	defer cancel()
	one := c.take()
	one.work <- call[In]{ctx, in}
	a, ok := one.wait(ctx, c.grace)
	if !ok {
		c.leaveAlone(one, id, began)
		return nil, &cutError{fmt.Errorf("its handler did not return %v after its context had ended (%w)", c.grace, context.Cause(ctx))}
	}
	c.give(one)
	if a.err != nil && errors.Is(context.Cause(ctx), errLimit) {
		return nil, &cutError{a.err}
	}
	return a.out, a.err
}

// errLimit is why the context of a handler ends that takes longer than its stage's limit.
var errLimit = errors.New("the limit of the stage")

// cutError is the error of a message whose handler was cut off.
type cutError struct{ err error }

func (e *cutError) Error() string { return e.err.Error() }
func (e *cutError) Unwrap() error { return e.err }

// wait waits for the answer; ok is false where there is none in time.
func (c *caller[In]) wait(ctx context.Context, grace time.Duration) (a answer, ok bool) {
	select {
	case a = <-c.done:
		return a, true
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case a = <-c.done:
		return a, true
	case <-late.C:
		return a, false
	}
}

func (c *callers[In]) take() *caller[In] {
	select {
	case idle := <-c.idle:
		return idle
	default:
	}
	one := &caller[In]{work: make(chan call[In]), done: make(chan answer, 1)}
	go func() {
		for w := range one.work {
			one.done <- c.handle(w.ctx, w.in)
		}
	}()
	return one
}

func (c *callers[In]) give(one *caller[In]) {
	select {
	case c.idle <- one:
	default:
		close(one.work)
	}
}

// leaveAlone leaves a call to itself until it returns.
func (c *callers[In]) leaveAlone(one *caller[In], id crawl.MessageID, began time.Time) {
	c.mu.Lock()
	c.lost[id] = began
	c.mu.Unlock()
	go func() {
		<-one.done
		close(one.work)
		c.mu.Lock()
		delete(c.lost, id)
		c.mu.Unlock()
	}()
}

func (c *callers[In]) isLost(id crawl.MessageID) (began time.Time, lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began, lost = c.lost[id]
	return began, lost
}

// handle calls the handler. A panic is an error of this one message: it is buried with its reason, and the other
// messages go on.
func (c *callers[In]) handle(ctx context.Context, in In) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{err: panicked(c.stage, p)}
		}
	}()
	a.out, a.err = c.handler.Handle(ctx, in)
	return a
}

// maxStack bounds the stack in an error: it goes into the dead letter, which a broker may carry in a header.
const maxStack = 8 << 10

// panicked is the error of a handler that panicked: what it said, and where.
func panicked(stage string, p any) error {
	stack := debug.Stack()
	return crawl.Permanent(fmt.Errorf("stage %s panicked: %v\n%s", stage, p, stack[:min(len(stack), maxStack)]))
}

// cutOff makes what becomes of a message whose handler was cut off: it is tried again, and buried after a few times.
func (r *runner[In]) cutOff(err error, attempt int) error {
	var cut *cutError
	if !errors.As(err, &cut) {
		return err
	}
	err = fmt.Errorf("stage %s: cut off after %v: %w", r.cfg.Name, r.cfg.Limit, cut.err)
	if attempt+1 >= maxCuts {
		return crawl.Permanent(err)
	}
	return &bus.RetryError{After: min(r.cfg.Limit, time.Minute), Err: err}
}
