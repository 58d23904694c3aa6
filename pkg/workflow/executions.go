package workflow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Executions implements Service.
func (m *Manager) Executions(ctx context.Context, f ExecutionFilter, p Page) (*List[Execution], error) {
	return m.store.Executions(ctx, f, bounded(p))
}

// Execution implements Service.
func (m *Manager) Execution(ctx context.Context, id crawl.JobID) (*Execution, error) {
	x, err := m.store.Execution(ctx, id)
	if err == nil && x.Discard.Deleted() {
		return nil, fmt.Errorf("execution %s is being deleted: %w", id, ErrNotFound)
	}
	return x, err
}

// Begun returns the executions that have begun and not ended, the oldest first.
func (m *Manager) Begun(ctx context.Context) ([]Execution, error) {
	all, err := m.store.Unsettled(ctx)
	return slices.DeleteFunc(all, func(x Execution) bool { return x.State == Pending || x.State.Ended() }), err
}

// Start implements Service.
func (m *Manager) Start(ctx context.Context, actor, id string, o Overrides) (*Execution, error) {
	return m.start(ctx, actor, id, o, Cause{Kind: "manual", By: actor}, "")
}

// start stores a new execution. once, if set, names its cause: the same cause starts one execution only.
func (m *Manager) start(ctx context.Context, actor, id string, o Overrides, c Cause, once string) (*Execution, error) {
	x, job, e, err := m.prepare(ctx, actor, id, o, c)
	if err != nil {
		return nil, err
	}
	var over *OverQuota
	if err := m.store.CreateExecution(ctx, x, job, once, e); errors.As(err, &over) {
		m.refused(ctx, actor, x.Account, x.Workflow, over)
		return nil, over
	} else if err != nil {
		return nil, err
	}
	m.nudge()
	return x, nil
}

// prepare makes an execution to be stored: its definition and its first event.
func (m *Manager) prepare(ctx context.Context, actor, id string, o Overrides,
	c Cause) (*Execution, *crawl.Job, Event, error) {
	w, err := m.store.Workflow(ctx, id)
	if err != nil {
		return nil, nil, Event{}, err
	}
	if !w.Archived.IsZero() {
		return nil, nil, Event{}, ErrArchived
	}
	if err := checkTexts("", o.Labels, ""); err != nil {
		return nil, nil, Event{}, err
	}
	if o.Version == 0 {
		o.Version = w.Current
	}
	job, err := m.job(ctx, w.ID, o.Version)
	if err != nil {
		return nil, nil, Event{}, err
	}
	job = override(job, o)
	if err := m.check(job); err != nil {
		return nil, nil, Event{}, &Invalid{faultsOf("", err)}
	}
	x := &Execution{Workflow: w.ID, Slug: w.Slug, Version: o.Version, State: Pending, Desired: Run, Cause: c, Attempt: 1,
		Epoch: 1, Labels: labelsOf(o.Labels), Created: m.now(), Account: accountOf(ctx)}
	if err := m.bound(ctx, x); err != nil {
		return nil, nil, Event{}, err
	}
	return x, job, m.event(actor, "execution.created", map[string]any{"to": Pending, "version": o.Version, "cause": c}),
		nil
}

// Steps implements Service: those of the last attempt.
func (m *Manager) Steps(ctx context.Context, id crawl.JobID) ([]Step, error) {
	x, err := m.Execution(ctx, id)
	if err != nil {
		return nil, err
	}
	return m.store.Steps(ctx, id, x.Attempt)
}

// Annotate implements Service.
func (m *Manager) Annotate(ctx context.Context, actor string, id crawl.JobID, lock int64, labels map[string]string,
	note *string) (*Execution, error) {
	text := ""
	if note != nil {
		text = *note
	}
	if err := checkTexts("", labels, text); err != nil {
		return nil, err
	}
	return m.change(ctx, id, func(x *Execution) ([]Event, error) {
		if lock != 0 && lock != x.Lock {
			return nil, ErrStale
		}
		if labels != nil {
			x.Labels = maps.Clone(labels)
		}
		if note != nil {
			x.Note = *note
		}
		return []Event{m.event(actor, "execution.annotated", map[string]any{"labels": x.Labels, "note": x.Note})}, nil
	})
}

// Delete implements Service.
func (m *Manager) Delete(ctx context.Context, actor string, id crawl.JobID, keepRecords bool) error {
	_, err := m.change(ctx, id, func(x *Execution) ([]Event, error) {
		switch {
		case x.Discard.Deleted():
			return nil, nil
		case !x.State.Ended():
			return nil, fmt.Errorf("%w: execution %s is %s: cancel it first", ErrConflict, id, x.State)
		}
		if x.Discard = DiscardAll; keepRecords {
			x.Discard = DiscardButRecords
		}
		return []Event{m.event(actor, "execution.deleting", map[string]any{"keep_records": keepRecords})}, nil
	})
	m.nudge()
	return err
}

// change edits an execution. If another writer changed it meanwhile, change reads it again and retries. If edit returns
// no events, nothing is stored.
func (m *Manager) change(ctx context.Context, id crawl.JobID,
	edit func(*Execution) ([]Event, error)) (*Execution, error) {
	for try := 0; ; try++ {
		x, err := m.store.Execution(ctx, id)
		if err != nil {
			return nil, err
		}
		from, lock := x.State, x.Lock
		events, err := edit(x)
		if err != nil || len(events) == 0 {
			return x, err
		}
		if x.Lock != lock || x.State != from && !MayFollow(from, x.State) {
			return nil, fmt.Errorf("execution %s cannot go from %s to %s", id, from, x.State)
		}
		if err = m.store.Change(ctx, x, from, events...); err == nil {
			return x, nil
		}
		if !errors.Is(err, ErrStale) || try == 20 {
			return nil, err
		}
	}
}
