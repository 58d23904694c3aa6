package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// specExpiry is how long programs may go by the settings that a job had before: see postgres.Config.JobExpiry.
const specExpiry = 6 * time.Second

// Retry implements control.Service.
func (c *Cluster) Retry(ctx context.Context, id crawl.JobID, r control.Retry) (*control.Retried, error) {
	if err := c.Bus.Reach(ctx); err != nil {
		return nil, err
	}
	job, changed, err := c.changed(ctx, id, r.Change)
	if err != nil {
		return nil, err
	}
	if changed {
		if r.Waiting != nil {
			r.Waiting(job.ID, specExpiry)
		}
		if err := control.Sleep(ctx, specExpiry); err != nil {
			return nil, err
		}
	}
	n, err := node.Retry(ctx, c.Bus, c.Postgres.URLs(), job.ID, r.Verdicts, r.Reasons)
	if err != nil {
		return nil, err
	}
	if _, err := c.present(ctx, job); err != nil {
		return nil, err
	}
	if n > 0 {
		if err := c.goOn(ctx, job); err != nil {
			return nil, err
		}
	}
	return &control.Retried{Job: job.ID, Queued: n}, nil
}

// changed gives a job other settings, and reports whether there are any that programs may not know yet. What others
// change at the same time stays.
func (c *Cluster) changed(ctx context.Context, id crawl.JobID, change control.Change) (job *crawl.Job, changed bool,
	err error) {
	for {
		j, err := c.Job(ctx, id)
		if err != nil {
			return nil, false, err
		}
		job, changed, err := c.change(ctx, j.Info.Job, change)
		if !errors.Is(err, crawl.ErrRevised) {
			return job, changed, err
		}
	}
}

func (c *Cluster) change(ctx context.Context, job *crawl.Job, change control.Change) (*crawl.Job, bool, error) {
	if change == nil {
		return job, true, nil // they were stored a moment ago
	}
	next, err := change(job)
	if err != nil || next == nil {
		return job, false, err
	}
	if err := checkPrivate(c.Config, next); err != nil {
		return nil, false, err
	}
	if err := checkOrder(next); err != nil {
		return nil, false, err
	}
	job, _, err = node.Revise(ctx, postgres.NextOf{Jobs: c.Postgres.Jobs(), Epoch: crawl.EpochOf(job.Epoch)}, next)
	return job, true, err
}
