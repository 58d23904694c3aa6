package workflow

import (
	"context"
)

// fault handles errors that the engine cannot recover from. An error that lasts longer than FaultAfter ends the
// execution. over means that this pass has nothing else to do for it.
func (c *conductor) fault(ctx context.Context, x *Execution, text string, err error) (over bool, _ error) {
	if err != nil {
		text = err.Error()
	}
	m, now := c.memoOf(x), c.now()
	if text == "" {
		if m.fault == "" {
			return false, nil
		}
		m.fault, m.faultSince = "", zeroTime
		return false, c.tellFault(ctx, x, "", "execution.fault_over")
	}
	if m.fault == "" {
		m.fault, m.faultSince = text, now
		if e := c.tellFault(ctx, x, text, "execution.fault"); e != nil {
			return true, e
		}
	}
	if now.Sub(m.faultSince) < c.opt.FaultAfter {
		return err != nil, nil // it goes on where its progress is known
	}
	m.fault, m.faultSince = "", zeroTime
	if x.State == Cancelling {
		return true, c.move(ctx, x.ID, Cancelling, Cancelled, because(text))
	}
	return true, c.move(ctx, x.ID, x.State, Finalizing, func(x *Execution, data *moved) []Event {
		x.Outcome, x.BrakedBy, x.Reason, data.Reason = Failed, "", text, text
		return nil
	})
}

func (c *conductor) tellFault(ctx context.Context, x *Execution, text, kind string) error {
	from := x.State
	_, err := c.change(ctx, x.ID, func(x *Execution) ([]Event, error) {
		if x.State != from {
			return nil, nil
		}
		x.Reason = text
		return []Event{c.event(conductorName, kind, map[string]any{"reason": text})}, nil
	})
	return err
}

// milestones stores an event for each milestone that was reached.
func (c *conductor) milestones(ctx context.Context, x *Execution, p Progress) error {
	if len(c.marked(x, p)) == 0 {
		return nil
	}
	_, err := c.change(ctx, x.ID, func(x *Execution) ([]Event, error) { return c.marked(x, p), nil })
	return err
}

// marked marks the milestones of an execution, and returns an event for each that is new.
func (c *conductor) marked(x *Execution, p Progress) (events []Event) {
	for next := max(x.Marks.Pages*10, 1); next <= p.Pages; next *= 10 {
		x.Marks.Pages = next
		events = append(events, c.event(conductorName, "milestone.pages", map[string]any{"pages": next}))
	}
	if p.Letters > 0 && !x.Marks.Letters {
		x.Marks.Letters = true
		events = append(events, c.event(conductorName, "milestone.dead_letter", map[string]any{"dead_letters": p.Letters}))
	}
	return events
}
