package workflow

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

var zeroTime time.Time

// moved is the data of a transition's event.
type moved struct {
	From     State  `json:"from,omitempty"`
	To       State  `json:"to"`
	Reason   string `json:"reason,omitempty"`
	BrakedBy string `json:"braked_by,omitempty"`
	Attempt  int    `json:"attempt,omitempty"`
	Pages    int64  `json:"pages,omitempty"`
	Letters  int64  `json:"dead_letters,omitempty"`
	Faults   int    `json:"audit_faults,omitempty"`
}

// conductorName is the actor of events that no person caused.
const conductorName = "conductor"

// move brings an execution from one state to the next, unless it has left the state meanwhile. edit may add events,
// which come first.
func (m *Manager) move(ctx context.Context, id crawl.JobID, from, to State,
	edit func(*Execution, *moved) []Event) error {
	return m.moveIf(ctx, id, from, to, nil, edit)
}

// moveIf is move for an execution that is still such; nil: any is.
func (m *Manager) moveIf(ctx context.Context, id crawl.JobID, from, to State, still func(*Execution) bool,
	edit func(*Execution, *moved) []Event) error {
	_, err := m.change(ctx, id, func(x *Execution) (events []Event, _ error) {
		if x.State != from || still != nil && !still(x) {
			return nil, nil
		}
		data := moved{From: from, To: to}
		x.State = to
		if edit != nil {
			events = edit(x, &data)
		}
		if to.Ended() {
			x.Ended = m.now()
		}
		return append(events, m.event(conductorName, eventOf(from, to), data)), nil
	})
	return err
}

// because gives the transition a reason.
func because(reason string) func(*Execution, *moved) []Event {
	return func(x *Execution, data *moved) []Event {
		x.Reason, data.Reason = reason, reason
		return nil
	}
}

// look does the next step for an execution. free means that one more may run; taken, that this one now does.
func (c *conductor) look(ctx context.Context, x *Execution, free bool) (taken bool, err error) {
	switch x.State {
	case Pending:
		return c.lookPending(ctx, x, free)
	case Starting:
		return false, c.lookStarting(ctx, x)
	case Finalizing:
		if x.Desired == Cancel {
			return false, c.move(ctx, x.ID, Finalizing, Cancelling, nil)
		}
		c.slowly(ctx, x, c.finalize)
		return false, nil
	}
	if x.State.Ended() {
		c.slowly(ctx, x, c.discard)
		return false, nil
	}
	p, err := c.engine.Progress(ctx, x.ID)
	if err != nil && ctx.Err() != nil {
		return false, err
	}
	if over, err := c.fault(ctx, x, p.Fault, err); over || err != nil {
		return false, err
	}
	c.byQuota(ctx, x, &p)
	switch x.State {
	case Running:
		return false, c.lookRunning(ctx, x, p)
	case Pausing:
		return false, c.lookPausing(ctx, x, p)
	case Paused:
		return c.lookPaused(ctx, x, p, free)
	case Stopping, Cancelling:
		return false, c.lookEnding(ctx, x, p)
	}
	return false, fmt.Errorf("there is no state %q", x.State)
}

func (c *conductor) lookPending(ctx context.Context, x *Execution, free bool) (bool, error) {
	switch {
	case x.Desired == Cancel:
		return false, c.move(ctx, x.ID, Pending, Cancelled, because("cancelled before it began"))
	case x.Desired == Stop:
		return false, c.move(ctx, x.ID, Pending, Stopped, because("stopped before it began"))
	case x.Desired == Pause || !free:
		return false, nil
	}
	return true, c.move(ctx, x.ID, Pending, Starting, because(""))
}

func (c *conductor) lookStarting(ctx context.Context, x *Execution) error {
	switch memo := c.memoOf(x); {
	case x.Desired == Cancel:
		return c.move(ctx, x.ID, Starting, Cancelling, nil)
	case x.Desired == Stop:
		return c.move(ctx, x.ID, Starting, Stopping, nil)
	case !c.now().Before(memo.notBefore):
		c.slowly(ctx, x, c.start1)
	}
	return nil
}

// start1 tries once to start an execution.
func (c *conductor) start1(ctx context.Context, x *Execution) error {
	job, err := c.currentJob(ctx, x)
	if err == nil {
		err = c.engine.Submit(ctx, job)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	memo := c.memoOf(x)
	if err == nil {
		memo.tries, memo.notBefore = 0, zeroTime
		return c.move(ctx, x.ID, Starting, Running, func(x *Execution, data *moved) []Event {
			x.Reason, x.Marks.Began, data.Attempt = "", c.now(), x.Attempt
			if x.Started.IsZero() {
				x.Started = x.Marks.Began
			}
			return nil
		})
	}
	memo.tries++
	if memo.tries >= startTries || crawl.IsPermanent(err) {
		memo.tries, memo.notBefore = 0, zeroTime
		return c.move(ctx, x.ID, Starting, Failed, because(err.Error()))
	}
	wait := c.opt.RetryBase << (memo.tries - 1)
	memo.notBefore = c.now().Add(wait)
	time.AfterFunc(wait, c.nudge)
	tries := memo.tries
	_, err = c.change(ctx, x.ID, func(x *Execution) ([]Event, error) {
		if x.State != Starting {
			return nil, nil
		}
		x.Reason = err.Error()
		return []Event{c.event(conductorName, "execution.start_failed", map[string]any{"try": tries, "reason": x.Reason})},
			nil
	})
	return err
}
