package workflow

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Wish implements Service.
func (m *Manager) Wish(ctx context.Context, actor string, id crawl.JobID, d Desired,
	reason string) (*Execution, error) {
	if err := checkTexts("", nil, reason); err != nil {
		return nil, err
	}
	x, err := m.change(ctx, id, func(x *Execution) ([]Event, error) {
		if x.Discard.Deleted() {
			return nil, fmt.Errorf("execution %s is being deleted: %w", id, ErrNotFound)
		}
		if no := forbidden(x, d); no != "" {
			return nil, fmt.Errorf("%w: execution %s is %s: %s", ErrConflict, id, x.State, no)
		}
		if x.Desired == d && (!x.State.Ended() || d != Run) {
			return nil, nil
		}
		var err error
		if d == Run && x.State.Ended() {
			err = m.bound(ctx, x)
		}
		return m.wished(actor, x, d, reason), err
	})
	m.nudge()
	return x, err
}

// wished sets the desired state, and reopens an execution that has ended.
func (m *Manager) wished(actor string, x *Execution, d Desired, reason string) []Event {
	x.Desired = d
	wished := m.event(actor, "execution.wished", map[string]any{"desired": d, "reason": reason})
	if !x.State.Ended() {
		return []Event{wished}
	}
	from := x.State
	x.State, x.Reason, x.BrakedBy, x.Outcome = Pending, reason, "", ""
	x.Ended, x.Attempt = zeroTime, x.Attempt+1
	return []Event{wished, m.event(actor, told[Pending],
		moved{From: from, To: Pending, Reason: reason, Attempt: x.Attempt})}
}

// forbidden says why a wish cannot be met, and what to do instead; empty: it can be.
func forbidden(x *Execution, d Desired) string {
	ended, same := x.State.Ended(), x.Desired == d
	switch d {
	case Run:
		return forbidRun(x)
	case Pause:
		switch {
		case ended:
			return "it has ended, there is nothing to pause"
		case x.State == Finalizing || x.State == Stopping || x.State == Cancelling || x.Desired == Stop ||
			x.Desired == Cancel:
			return "it is ending, there is nothing to pause"
		}
	case Stop:
		switch {
		case same && (x.State == Stopped || !ended):
		case ended:
			return "it has ended already"
		case x.State == Cancelling || x.Desired == Cancel:
			return "it is being cancelled"
		case x.State == Finalizing:
			return "it has come to its end by itself, its figures are being made"
		}
	case Cancel:
		if ended && x.State != Cancelled {
			return "it has ended already: delete it if its results are not wanted"
		}
	default:
		return fmt.Sprintf("nobody can want %q of it: want run, pause, stop or cancel", d)
	}
	return ""
}

func forbidRun(x *Execution) string {
	switch {
	case x.State == Cancelled:
		return "one that was cancelled cannot be resumed: start a new execution"
	case x.State.Ended() && (!x.Trimmed.IsZero() || x.Discard != DiscardNothing):
		return "its crawl state was discarded, so it cannot be resumed: start a new execution"
	case x.State.Ended() || x.State == Finalizing && x.Desired == Run:
		return ""
	case x.State == Stopping || x.State == Cancelling || x.State == Finalizing || x.Desired == Stop || x.Desired == Cancel:
		return "it is ending: wait for the end, then resume it"
	}
	return ""
}
