package workflow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

var endedStates = []State{Succeeded, Partial, Stopped, Cancelled, Failed}

// retention is the last step of the finalizer.
func (c *conductor) retention(ctx context.Context, x *Execution) (any, error) {
	job, err := c.jobOf(ctx, x)
	if err != nil {
		return nil, err
	}
	n, err := c.sweep(ctx, x.Workflow, job.Lifecycle.Retention, 1)
	return map[string]any{"discarded": n}, err
}

// sweepAll applies the retention of every workflow's current version to its executions.
func (c *conductor) sweepAll(ctx context.Context) error {
	for page := (Page{Limit: 200}); ; {
		list, err := c.store.Workflows(ctx, Filter{Archived: true}, page)
		if err != nil {
			return err
		}
		for i := range list.Items {
			w := &list.Items[i]
			job, err := c.job(ctx, w.ID, w.Current)
			if err == nil {
				_, err = c.sweep(ctx, w.ID, job.Lifecycle.Retention, 0)
			}
			if err != nil {
				c.opt.Log.Error("old executions are not looked for", "workflow", w.Slug, "error", err)
			}
		}
		if page.Cursor = list.Next; page.Cursor == "" {
			return c.store.ForgetPages(ctx, DayOf(c.now().AddDate(0, 0, -pagesKept)))
		}
	}
}

// sweep marks for deletion the ended executions that the retention of a workflow does not keep. newer is how many newer
// executions are about to end; they count as kept.
func (c *conductor) sweep(ctx context.Context, id ID, r crawl.Retention, newer int) (marked int, err error) {
	if r.Executions == 0 && r.Days == 0 {
		return 0, nil
	}
	for page := (Page{Limit: 200}); ; {
		list, err := c.store.Executions(ctx, ExecutionFilter{Workflow: string(id), States: endedStates}, page)
		if err != nil {
			return marked, err
		}
		for i := range list.Items {
			newer++
			x := &list.Items[i]
			why := expires(r, x, newer, c.now())
			if why == "" {
				continue
			}
			if err := c.expire(ctx, x, r, why); err != nil && !errors.Is(err, ErrNotFound) {
				return marked, err
			}
			marked++
		}
		if page.Cursor = list.Next; page.Cursor == "" {
			return marked, nil
		}
	}
}

// Expiring is an execution that a rule of retention deletes.
type Expiring struct {
	Execution crawl.JobID `json:"execution"`
	Ended     time.Time   `json:"ended"`
	All       bool        `json:"all"` // its records and log, too, and not only its crawl state
	Why       string      `json:"why"`
}

// WouldExpire is what a rule of retention would delete of the executions of a workflow, the newest first, if it were
// applied now.
func WouldExpire(r crawl.Retention, all []Execution, now time.Time) (out []Expiring) {
	if r.Executions == 0 && r.Days == 0 {
		return nil
	}
	n := 0
	for i := range all {
		x := &all[i]
		if !x.State.Ended() {
			continue
		}
		n++
		if why := expires(r, x, n, now); why != "" {
			out = append(out, Expiring{x.ID, x.Ended, r.Records == crawl.RecordsDrop, why})
		}
	}
	return out
}

// expires says why the n-th newest execution goes; empty: it stays, or what would go is gone.
func expires(r crawl.Retention, x *Execution, n int, now time.Time) string {
	if x.Discard != DiscardNothing || !x.Trimmed.IsZero() && r.Records != crawl.RecordsDrop {
		return ""
	}
	return expired(r, x, n, now)
}

// expired says why the n-th newest execution is not kept; empty: it is.
func expired(r crawl.Retention, x *Execution, n int, now time.Time) string {
	switch {
	case r.Executions > 0 && n > r.Executions:
		return fmt.Sprintf("lifecycle.retention.executions: the last %d are kept", r.Executions)
	case r.Days > 0 && now.Sub(x.Ended) > time.Duration(r.Days)*24*time.Hour:
		return fmt.Sprintf("lifecycle.retention.days: it ended more than %d days ago", r.Days)
	}
	return ""
}

func (c *conductor) expire(ctx context.Context, x *Execution, r crawl.Retention, why string) error {
	_, err := c.change(ctx, x.ID, func(x *Execution) ([]Event, error) {
		if x.Discard != DiscardNothing || !x.State.Ended() {
			return nil, nil
		}
		if x.Discard = DiscardState; r.Records == crawl.RecordsDrop {
			x.Discard = DiscardAll
		}
		return []Event{c.event(conductorName, "execution.expired", map[string]any{"reason": why})}, nil
	})
	return err
}

// discard deletes the data of an execution that is marked for deletion.
func (c *conductor) discard(ctx context.Context, x *Execution) error {
	memo := c.memoOf(x)
	if c.now().Before(memo.notBefore) {
		return nil
	}
	if err := c.engine.Discard(ctx, x.ID, x.Discard != DiscardAll); err != nil {
		memo.notBefore = c.now().Add(time.Minute)
		return fmt.Errorf("data of execution %s are not deleted yet: %w", x.ID, err)
	}
	if x.Discard.Deleted() {
		return c.store.Remove(ctx, x.ID, c.event(conductorName, "execution.deleted", map[string]any{"execution": x.ID}))
	}
	_, err := c.change(ctx, x.ID, func(x *Execution) ([]Event, error) {
		if x.Discard != DiscardState {
			return nil, nil // all of it is being deleted
		}
		x.Discard, x.Trimmed = DiscardNothing, c.now()
		return []Event{c.event(conductorName, "execution.trimmed", nil)}, nil
	})
	return err
}
