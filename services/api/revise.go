package main

import (
	"context"
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Revise implements api.Crawls. Two copies of the program may revise at once: the store takes one revision of each
// number, and the other is told of the conflict.
func (c *crawls) Revise(ctx context.Context, n workflow.Note, id crawl.JobID,
	change control.Change) (*control.Revised, error) {
	job, err := c.s.engine.Job(ctx, id)
	if err == nil && job == nil {
		err = workflow.ErrNotFound
	}
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
		revised, err := c.apply(ctx, job, next)
		if err != nil {
			return 0, nil, err
		}
		out.Applies = revised.Applies
		return crawl.EpochOf(revised.Epoch), revised.Changes, nil
	})
	if err == nil && len(out.Changes) > 0 {
		out.GoesOn, err = c.s.engine.GoOn(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// apply checks an edit, and gives it to the cluster.
func (c *crawls) apply(ctx context.Context, from, to *crawl.Job) (*control.Revised, error) {
	if err := c.s.check(to); err != nil {
		return nil, &control.Misuse{Err: err}
	}
	if err := crawl.CheckChange(from, to); err != nil {
		return nil, err
	}
	return c.s.engine.Revise(ctx, from.ID, func(now *crawl.Job) (*crawl.Job, error) {
		if crawl.EpochOf(now.Epoch) != crawl.EpochOf(from.Epoch) {
			return nil, workflow.ErrStale
		}
		return to, nil
	})
}

// Seed implements api.Crawls: the seeds become part of the definition.
func (c *crawls) Seed(ctx context.Context, id crawl.JobID, urls []string) (int, error) {
	job, err := c.s.engine.Job(ctx, id)
	if err == nil && job == nil {
		err = workflow.ErrNotFound
	}
	if err != nil {
		return 0, err
	}
	more := *job
	more.Seeds = urls
	if err := errors.Join(c.s.check(&more)); err != nil {
		return 0, &control.Misuse{Err: err}
	}
	done, err := c.s.engine.Cluster.Submit(ctx,
		control.Submission{Job: &more, Known: func(now *crawl.Job) (*crawl.Job, error) {
			next := *now
			next.Seeds = append(append([]string(nil), now.Seeds...), urls...)
			return &next, nil
		}})
	if err != nil {
		return 0, err
	}
	if len(done.Changes) > 0 {
		r := &workflow.RevisionEvent{Epoch: crawl.EpochOf(done.Job.Epoch), Changes: done.Changes}
		_, err = c.s.manager.Revised(ctx, "seeds", id, r)
	}
	return done.Queued, err
}
