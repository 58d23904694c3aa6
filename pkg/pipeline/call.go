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

// grace is how long a handler whose context has ended may take to return. One that takes longer is abandoned.
const grace = 10 * time.Second

// maxCuts is how often a message may cost its stage the whole limit before it is buried.
const maxCuts = 3

// calls calls the handler of a stage, on the goroutines of the bus's workers: handing each message to another goroutine
// and back costs more than most handlers. A watch looks after the calls that are under way, see watch.go.
//
// While an abandoned call is under way its message is not handled again: the effects of a handler may be repeated, but
// not made by two at once that do not know of each other. Its retries count as cut off, and the last one buries it.
type calls[In crawl.Event] struct {
	stage   string
	handler Handler[In]
	limit   time.Duration

	mu        sync.Mutex
	abandoned map[crawl.MessageID]time.Time // calls that nobody waits for, and when they began
	active    map[*call]struct{}            // calls that the watch looks after
	leashes   []leash                       // for the next calls, all of one life
}

func newCalls[In crawl.Event](stage string, h Handler[In], limit time.Duration) *calls[In] {
	return &calls[In]{stage: stage, handler: h, limit: limit, abandoned: map[crawl.MessageID]time.Time{},
		active: map[*call]struct{}{}}
}

type answer struct {
	out []crawl.Event
	err error
}

// call calls the handler, within the limit where there is one and the bus can do without the handler's return.
func (c *calls[In]) call(ctx context.Context, in In, id crawl.MessageID) ([]crawl.Event, error) {
	by, ok := ctx.Value(bus.AbandonKey{}).(bus.Abandoner)
	if c.limit <= 0 || !ok {
		a := c.handle(ctx, in)
		return a.out, a.err
	}
	w := &call{values: ctx, id: id, event: in, attempt: DeliveryOf(ctx).Attempt, began: time.Now(), by: by}
	if err := c.enter(w); err != nil {
		return nil, err
	}
	a := c.handle(w, in) //nolint:contextcheck // w has the values of ctx
	switch abandoned := c.leave(w); {
	case abandoned:
		return nil, errAbandoned
	case a.err != nil && errors.Is(context.Cause(w.leash), errLimit): //nolint:contextcheck // w has the values of ctx
		return nil, &cutError{a.err}
	}
	return a.out, a.err
}

// errAbandoned is returned by a call that nobody waits for any more.
var errAbandoned = errors.New("the message was abandoned before its handler returned")

// errLimit is why the context of a handler ends that takes longer than its stage's limit.
var errLimit = errors.New("the limit of the stage")

// cutError is the error of a message whose handler was cut off.
type cutError struct{ err error }

func (e *cutError) Error() string { return e.err.Error() }
func (e *cutError) Unwrap() error { return e.err }

// handle calls the handler. A panic is an error of this one message: it is buried with its reason, and the other
// messages go on.
func (c *calls[In]) handle(ctx context.Context, in In) (a answer) {
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
