package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// Revise implements control.Service. Of those who revise a job at once each changes what the others made of it.
func (c *Cluster) Revise(ctx context.Context, id crawl.JobID, change control.Change) (*control.Revised, error) {
	for {
		r, err := c.reviseOnce(ctx, id, change)
		if !errors.Is(err, crawl.ErrRevised) {
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
	_, _, err = c.queueSeeds(ctx, current, changes)
	return &control.Revised{Job: next.ID, Epoch: current.Epoch, Changes: changes,
		Applies: "the cluster goes by it within some seconds"}, err
}

// queueSeeds queues the seeds of a job that are new, and lets the job run again where it had ended, if these seeds or
// what was changed give it more to do. It fails where the job was deleted meanwhile.
func (c *Cluster) queueSeeds(ctx context.Context, job *crawl.Job,
	changes []crawl.Change) (n int, before crawl.JobState, err error) {
	if n, err = node.Seed(ctx, c.Bus, c.Postgres.URLs(), c.Postgres.Hosts(), job); err != nil {
		return 0, "", err
	}
	info, err := c.present(ctx, job)
	if err != nil {
		return 0, "", err
	}
	more := n > 0
	if !more && info.State == crawl.JobEnded {
		more, err = c.widened(ctx, job, changes)
	}
	if err == nil && more {
		err = c.goOn(ctx, job)
	}
	return n, info.State, err
}

// present returns what is known of a job whose revision was read or made before; an error where it was deleted since
// then: what was queued of it is dropped.
func (c *Cluster) present(ctx context.Context, job *crawl.Job) (crawl.JobInfo, error) {
	info, err := c.Postgres.Jobs().Info(ctx, job.ID)
	gone := err != nil && info.ID == "" && crawl.IsPermanent(err)
	if err != nil && !gone {
		return info, err
	}
	if gone || !info.Deleted.IsZero() || info.Job == nil || info.Job.First > crawl.EpochOf(job.Epoch) {
		return info, fmt.Errorf("job %s was deleted meanwhile, and what was queued of it with it: submit it again", job.ID)
	}
	return info, nil
}

// widened reports whether a revision gives a job more to do that may have ended: the frontiers would find that out some
// seconds later, and somebody may want to pause it before.
func (c *Cluster) widened(ctx context.Context, job *crawl.Job, changes []crawl.Change) (bool, error) {
	bounds := func(ch crawl.Change) bool { return strings.HasPrefix(ch.Key, "bounds.") }
	if len(changes) == 0 || slices.ContainsFunc(changes, bounds) {
		return len(changes) > 0, nil
	}
	sweep, err := c.Postgres.Jobs().Sweep(ctx, job.ID)
	return sweep.Due(), err
}

// goOn lets a job run that had ended.
func (c *Cluster) goOn(ctx context.Context, job *crawl.Job) error {
	_, err := c.Postgres.Jobs().Turn(ctx, job.ID, 0, crawl.JobRunning, crawl.JobEnded)
	return err
}
