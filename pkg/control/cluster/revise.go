package cluster

import (
	"context"
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// Revise implements control.Service. Of those who revise a job at once each changes what the others made of it.
func (c *Cluster) Revise(ctx context.Context, id crawl.JobID, change control.Change) (*control.Revised, error) {
	for {
		r, err := c.reviseOnce(ctx, id, change)
		if !errors.Is(err, postgres.ErrRevised) {
			return r, err
		}
	}
}

func (c *Cluster) reviseOnce(ctx context.Context, id crawl.JobID, change control.Change) (*control.Revised, error) {
	j, err := c.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	from := j.Info.Job.Epoch
	next, err := change(j.Info.Job)
	if err != nil {
		return nil, err
	}
	if err := checkOrder(next); err != nil {
		return nil, err
	}
	if err := c.pinned(ctx, next); err != nil {
		return nil, err
	}
	current, changes, err := node.Revise(ctx, postgres.NextOf{Jobs: c.Postgres.Jobs(), Epoch: from}, next)
	if err != nil {
		return nil, err
	}
	_, _, err = c.queueSeeds(ctx, current)
	return &control.Revised{Job: next.ID, Epoch: current.Epoch, Changes: changes,
		Applies: "the cluster goes by it within some seconds"}, err
}

// queueSeeds queues the seeds of a job that are new, and lets the job run again where it had ended.
func (c *Cluster) queueSeeds(ctx context.Context, job *crawl.Job) (n int, before crawl.JobState, err error) {
	if n, err = node.Seed(ctx, c.Bus, c.Postgres.URLs(), c.Postgres.Hosts(), job); err != nil {
		return 0, "", err
	}
	info, err := c.Postgres.Jobs().Info(ctx, job.ID)
	if err == nil && n > 0 && info.State == crawl.JobEnded {
		err = c.Postgres.Jobs().SetState(ctx, job.ID, crawl.JobRunning) // the frontier would, some seconds later
	}
	return n, info.State, err
}
