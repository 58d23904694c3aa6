package node

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// jobRevisions tells a cluster's frontier which revisions of the jobs apply, and sees to it that what they let in is
// let in: on a ring by one of the nodes, because the node that sweeps a job holds its lock in the database.
type jobRevisions struct {
	jobs     *postgres.Jobs
	frontier *frontier.Frontier
	sweeper  *sweeper
	found    crawl.Unremembered
	log      *slog.Logger

	mu    sync.Mutex
	known map[crawl.JobID]uint32
	due   map[crawl.JobID]bool // a sweep may be
	walks map[crawl.JobID]*rememberWalk
}

const (
	// revisionLook is how long a revision may be unknown here. Programs other than the frontier learn of it by the
	// tasks that carry its epoch.
	revisionLook = time.Second
	// sweepLook is how long another node's sweep, or a store that is away, is waited for.
	sweepLook = 5 * time.Second
)

// run looks until ctx is done.
func (r *jobRevisions) run(ctx context.Context) {
	r.known, r.due, r.walks = map[crawl.JobID]uint32{}, map[crawl.JobID]bool{}, map[crawl.JobID]*rememberWalk{}
	var sweeping sync.WaitGroup
	defer sweeping.Wait()
	sweeping.Go(func() { r.rememberAll(ctx) })
	sweeping.Go(func() { r.sweepAll(ctx) })
	tick := time.NewTicker(revisionLook)
	defer tick.Stop()
	for {
		if err := r.look(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("cannot read the jobs' revisions; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (r *jobRevisions) look(ctx context.Context) error {
	epochs, err := r.jobs.Epochs(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for id, epoch := range epochs {
		r.mu.Lock()
		before, seen := r.known[id]
		r.mu.Unlock()
		if seen && before == epoch {
			continue
		}
		r.jobs.Refresh(id)
		if epoch == 0 {
			r.frontier.Discard(id)
			r.mu.Lock()
			r.known[id], r.due[id] = 0, false
			r.mu.Unlock()
			continue
		}
		job, err := r.jobs.Job(ctx, id)
		if err != nil { // of this job: others go on
			errs = append(errs, err)
			continue
		}
		r.frontier.SetJob(job)
		if err := r.walkFor(ctx, job); err != nil {
			errs = append(errs, err)
			continue
		}
		if seen {
			r.log.Info("a revision of the job applies", "job", id, "revision", job.Epoch)
		}
		r.mu.Lock()
		r.known[id], r.due[id] = job.Epoch, job.Epoch > 1
		r.mu.Unlock()
	}
	return errors.Join(errs...)
}

// sweepAll sweeps the jobs that may need it, one after the other.
func (r *jobRevisions) sweepAll(ctx context.Context) {
	tick := time.NewTicker(revisionLook)
	defer tick.Stop()
	later := map[crawl.JobID]time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, id := range r.dueNow() {
			if time.Now().Before(later[id]) {
				continue
			}
			over, err := r.sweep(ctx, id)
			if err != nil && ctx.Err() == nil {
				r.log.Warn("URLs that older revisions of a job left out wait; tried again", "job", id, "error", err)
			}
			if !over {
				later[id] = time.Now().Add(sweepLook)
			}
		}
	}
}

func (r *jobRevisions) dueNow() (ids []crawl.JobID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, due := range r.due {
		if due {
			ids = append(ids, id)
		}
	}
	return ids
}

// sweep lets in what a job lets in now; over: there is no more to do until the job is about to end, or is revised
// again.
func (r *jobRevisions) sweep(ctx context.Context, id crawl.JobID) (over bool, err error) {
	ran, err := r.jobs.Sweeping(ctx, id, func(ctx context.Context) error {
		return r.sweeper.pass(ctx, id)
	})
	if err != nil {
		return false, err
	}
	state, err := r.jobs.Sweep(ctx, id)
	if err != nil || !ran && state.Due() && !state.Passed {
		return false, err
	}
	if err := r.goOn(ctx, id, state); err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if state.Epoch >= r.known[id] {
		r.due[id] = false
	}
	return true, nil
}

// goOn lets a job run that had ended and has a sweep that is not done: its end is to be found anew, by a last pass.
func (r *jobRevisions) goOn(ctx context.Context, id crawl.JobID, s crawl.Sweep) error {
	if !s.Due() {
		return nil
	}
	_, err := r.jobs.Turn(ctx, id, 0, crawl.JobRunning, crawl.JobEnded)
	return err
}

// concluded reports whether a job of which nothing is under way lets in nothing more that older revisions left out.
// still reports, while this node alone sweeps the job, whether nothing is under way yet.
func (r *jobRevisions) concluded(ctx context.Context, id crawl.JobID,
	still func(context.Context) (bool, error)) (done bool, err error) {
	state, err := r.jobs.Sweep(ctx, id)
	if err != nil || !state.Due() || r.frontier.Exhausted(id) {
		return err == nil, err
	}
	_, err = r.jobs.Sweeping(ctx, id, func(ctx context.Context) (err error) {
		done, err = r.sweeper.lastPass(ctx, id, still)
		return err
	})
	return done && err == nil, err
}
