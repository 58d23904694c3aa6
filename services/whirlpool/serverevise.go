package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/preview"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// turns lets one after the other change the settings of an execution: a proposal is of the revision that it was checked
// against.
type turns struct{ of sync.Map } // of *sync.Mutex by crawl.JobID

func (t *turns) take(id crawl.JobID) (release func()) {
	m, _ := t.of.LoadOrStore(id, &sync.Mutex{})
	mu := m.(*sync.Mutex) //nolint:forcetypeassert // it holds nothing else
	mu.Lock()
	return mu.Unlock
}

// Revise implements api.Crawls: the revision is proposed, checked and made ready, and then applies from the next lease
// on. What cannot be is discarded.
func (c *crawls) Revise(ctx context.Context, n workflow.Note, id crawl.JobID,
	change control.Change) (*control.Revised, error) {
	defer c.turns.take(id)()
	job, err := c.s.engine.Store().Jobs().Job(ctx, id)
	if err != nil {
		return nil, err
	}
	next, err := change(job)
	if err != nil {
		return nil, err
	}
	next.Pipeline.KeepDigests(&job.Pipeline)
	out := &control.Revised{Job: id}
	out.Epoch, out.Changes, err = c.s.manager.Revise(ctx, n, job, next, func() (uint32, []crawl.Change, error) {
		if err := c.checked(ctx, job, next); err != nil {
			return 0, nil, err
		}
		out.Applies = "from the next request on"
		changes, err := c.s.engine.Revise(ctx, next)
		return crawl.EpochOf(job.Epoch) + 1, changes, err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// checked reports what keeps an edit from being a revision, and pins the plug-ins that it adds.
func (c *crawls) checked(ctx context.Context, from, to *crawl.Job) error {
	err := c.check(to)
	if err == nil {
		err = c.s.pin(ctx, to)
	}
	if err != nil {
		return &control.Misuse{Err: err}
	}
	if err := crawl.CheckChange(from, to); err != nil {
		return err
	}
	if c.ready == nil {
		return nil
	}
	if err := c.ready(ctx, from, to); err != nil {
		return &control.Misuse{Err: fmt.Errorf("it cannot be got ready, and nothing changes: %w", err)}
	}
	return nil
}

// Seed implements api.Crawls.
func (c *crawls) Seed(ctx context.Context, id crawl.JobID, urls []string) (int, error) {
	defer c.turns.take(id)()
	return c.s.engine.Seeds(ctx, id, urls)
}

// previews gives the API the engine's previews.
type previews struct{ c *crawls }

var _ api.Previews = previews{}

// Preview implements api.Previews.
func (p previews) Preview(ctx context.Context, next *crawl.Job, tell func(*preview.Answer)) error {
	if err := p.c.check(next); err != nil {
		return &control.Misuse{Err: err}
	}
	return p.c.s.engine.Preview(ctx, next, tell)
}
