package workflow

import (
	"context"
	"fmt"
)

// ending returns the state that leads to the end the user wants; empty: the user wants none.
func ending(d Desired) State {
	switch d {
	case Stop:
		return Stopping
	case Cancel:
		return Cancelling
	}
	return ""
}

func (c *conductor) lookRunning(ctx context.Context, x *Execution, p Progress) error {
	if to := ending(x.Desired); to != "" {
		return c.move(ctx, x.ID, Running, to, nil)
	}
	switch {
	case !p.Known || p.Stopped, // the engine lost the job, or stopped it without a request
		p.Ended && p.Revised: // it ended before a revision came
		c.slowly(ctx, x, c.resubmit)
		return nil
	case p.Ended:
		return c.ended(ctx, x, p)
	case x.Desired == Pause:
		return c.move(ctx, x.ID, Running, Pausing, nil)
	case p.Braked != "":
		return c.move(ctx, x.ID, Running, Pausing, func(x *Execution, data *moved) []Event {
			x.BrakedBy, data.BrakedBy = p.Braked, p.Braked
			if p.Braked == BrakedByQuota {
				x.Reason = c.memoOf(x).quota.spent
				data.Reason = x.Reason
			}
			return nil
		})
	case p.HeldBy != "":
		return c.move(ctx, x.ID, Running, Pausing, func(x *Execution, data *moved) []Event {
			x.Desired, x.Reason, data.Reason = Pause, p.HeldBy, p.HeldBy
			return nil
		})
	case p.Held:
		return c.engine.Hold(ctx, x.ID, false)
	}
	if over, err := c.limit(ctx, x); over || err != nil {
		return err
	}
	return c.milestones(ctx, x, p)
}

func (c *conductor) resubmit(ctx context.Context, x *Execution) error {
	job, err := c.currentJob(ctx, x)
	if err != nil {
		return err
	}
	return c.engine.Submit(ctx, job)
}

// ended hands an execution whose job has ended to the finalizer.
func (c *conductor) ended(ctx context.Context, x *Execution, p Progress) error {
	return c.move(ctx, x.ID, x.State, Finalizing, func(x *Execution, data *moved) []Event {
		x.Outcome, x.BrakedBy, x.Reason = Succeeded, "", ""
		data.Pages, data.Letters = p.Pages, p.Letters
		return c.marked(x, p)
	})
}

// limit stops an execution that has used up its time.
func (c *conductor) limit(ctx context.Context, x *Execution) (bool, error) {
	job, err := c.jobOf(ctx, x)
	if err != nil {
		return false, err
	}
	most := job.Lifecycle.MaxDuration.D()
	if most <= 0 || c.now().Sub(x.Marks.Began) < most {
		return false, nil
	}
	return true, c.move(ctx, x.ID, Running, Stopping, func(x *Execution, data *moved) []Event {
		x.Desired = Stop
		x.Reason = fmt.Sprintf("lifecycle.max_duration: it ran for %s", most)
		data.Reason = x.Reason
		return nil
	})
}

func (c *conductor) lookPausing(ctx context.Context, x *Execution, p Progress) error {
	if to := ending(x.Desired); to != "" {
		return c.move(ctx, x.ID, Pausing, to, unbraked)
	}
	switch {
	case p.Ended:
		return c.ended(ctx, x, p)
	case x.Desired == Run && p.Braked == "":
		return c.resume(ctx, x)
	case (x.Desired == Pause || p.Braked == BrakedByQuota) && !p.Held:
		if err := c.engine.Hold(ctx, x.ID, true); err != nil {
			return err
		}
	}
	if p.InFlight > 0 || (x.Desired == Pause || p.Braked == BrakedByQuota) && !p.Held {
		return nil // the next look sees what the hold did
	}
	return c.move(ctx, x.ID, Pausing, Paused, func(x *Execution, data *moved) []Event {
		if x.Desired == Pause {
			x.BrakedBy = ""
		}
		data.BrakedBy = x.BrakedBy
		return nil
	})
}

func (c *conductor) lookPaused(ctx context.Context, x *Execution, p Progress, free bool) (bool, error) {
	if to := ending(x.Desired); to != "" {
		return false, c.move(ctx, x.ID, Paused, to, unbraked)
	}
	switch {
	case p.Ended:
		return false, c.ended(ctx, x, p)
	case (x.Desired == Pause || p.Braked == BrakedByQuota) && !p.Held:
		return false, c.engine.Hold(ctx, x.ID, true)
	case x.Desired == Run && p.Braked == "" && (free || x.keepsPlace()):
		return !x.keepsPlace(), c.resume(ctx, x)
	}
	return false, nil
}

// resume lets an execution go on. It stores the state first; the next look releases a running job that is still held.
func (c *conductor) resume(ctx context.Context, x *Execution) error {
	if err := c.move(ctx, x.ID, x.State, Running, unbraked); err != nil {
		return err
	}
	return c.engine.Hold(ctx, x.ID, false)
}

func unbraked(x *Execution, _ *moved) []Event {
	x.BrakedBy, x.Reason = "", ""
	return nil
}

// lookEnding waits until a stopping execution has nothing in flight.
func (c *conductor) lookEnding(ctx context.Context, x *Execution, p Progress) error {
	if x.State == Stopping && x.Desired == Cancel {
		return c.move(ctx, x.ID, Stopping, Cancelling, nil)
	}
	m := c.memoOf(x)
	if m.state != x.State {
		m.state, m.drain = x.State, c.now()
	}
	late := c.now().Sub(m.drain) >= c.opt.DrainMax
	if p.Known && !p.Stopped && !p.Ended {
		if err := c.engine.Stop(ctx, x.ID); err != nil || !late {
			return err // the next look sees what the stop did
		}
	}
	if p.InFlight > 0 && !late {
		return nil
	}
	if x.State == Cancelling {
		return c.move(ctx, x.ID, Cancelling, Cancelled, nil)
	}
	return c.move(ctx, x.ID, Stopping, Finalizing, func(x *Execution, data *moved) []Event {
		x.Outcome = Stopped
		data.Reason, data.Pages, data.Letters = x.Reason, p.Pages, p.Letters
		return c.marked(x, p)
	})
}
