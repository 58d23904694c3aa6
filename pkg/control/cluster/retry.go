package cluster

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// specExpiry is how long programs may go by the settings that a job had before: see postgres.Config.JobExpiry.
const specExpiry = 6 * time.Second

// Retry implements control.Service.
func (c *Cluster) Retry(ctx context.Context, id crawl.JobID, r control.Retry) (*control.Retried, error) {
	if err := c.Bus.Reach(ctx); err != nil {
		return nil, err
	}
	j, err := c.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	changed, err := c.change(ctx, j.Info.Job, r.Change)
	if err != nil {
		return nil, err
	}
	if changed {
		if r.Waiting != nil {
			r.Waiting(j.Info.ID, specExpiry)
		}
		if err := control.Sleep(ctx, specExpiry); err != nil {
			return nil, err
		}
	}
	n, err := node.Retry(ctx, c.Bus, c.Postgres.URLs(), j.Info.ID, r.Verdicts, r.Reasons)
	if err != nil {
		return nil, err
	}
	if n > 0 && j.Info.State == crawl.JobEnded {
		if err := c.Postgres.Jobs().SetState(ctx, j.Info.ID, crawl.JobRunning); err != nil {
			return nil, err
		}
	}
	return &control.Retried{Job: j.Info.ID, Queued: n}, nil
}

// change gives a job other settings, and reports whether there are any that programs may not know yet.
func (c *Cluster) change(ctx context.Context, job *crawl.Job, change control.Change) (changed bool, err error) {
	if change == nil {
		return true, nil // they were stored a moment ago
	}
	next, err := change(job)
	if err != nil || next == nil {
		return false, err
	}
	if err := checkPrivate(c.Config, next); err != nil {
		return false, err
	}
	return true, c.Postgres.Jobs().Put(ctx, next)
}
