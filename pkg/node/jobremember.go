package node

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// rememberWalk is a node's part in having visited again what a job fetched before it was continuous: the URLs of its
// own hosts. Nothing of it is stored: what is remembered is not found again.
//
// A walk may miss what another node's frontier recorded that had not heard of the revision yet, and whose host has
// become this node's since. So there is a second walk when all have heard of it, which finds next to nothing.
type rememberWalk struct {
	since uint32 // the epoch of the revision
	left  int    // walks
	next  time.Time
}

const (
	rememberWalks = 2
	// allHeard is when each frontier that may write has heard of a revision: it looks each revisionLook.
	allHeard = time.Minute
)

// walkFor notes whether what a job fetched is to be looked through.
func (r *jobRevisions) walkFor(ctx context.Context, job *crawl.Job) error {
	if !job.Revisits() || job.Epoch == 1 {
		return nil
	}
	revisions, err := r.jobs.Revisions(ctx, job.ID)
	if err != nil {
		return err
	}
	since := crawl.ContinuousSince(revisions)
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.walks[job.ID]; since > 0 && (w == nil || w.since != since) {
		r.walks[job.ID] = &rememberWalk{since: since, left: rememberWalks}
	}
	return nil
}

// rememberAll looks through what jobs have fetched, one after the other.
func (r *jobRevisions) rememberAll(ctx context.Context) {
	tick := time.NewTicker(revisionLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for id, w := range r.walksNow() {
			if err := r.remember(ctx, id, w); err != nil && ctx.Err() == nil {
				r.log.Warn("pages that were fetched before the job was continuous are not visited again yet; trying again", "job",
					id, "error", err)
			}
		}
	}
}

// walksNow are the walks whose time has come.
func (r *jobRevisions) walksNow() map[crawl.JobID]*rememberWalk {
	out := map[crawl.JobID]*rememberWalk{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, w := range r.walks {
		if w.left > 0 && !time.Now().Before(w.next) {
			out[id] = w
		}
	}
	return out
}

// remember walks through what a job has fetched. A job that is not continuous any more, or was deleted, needs none.
func (r *jobRevisions) remember(ctx context.Context, id crawl.JobID, w *rememberWalk) error {
	job, known, err := r.jobs.Current(ctx, id)
	n, pause := 0, sweepLook
	if err == nil && known && job.Revisits() {
		n, err = remember(ctx, r.frontier, r.found, job, nil)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		w.left--
		pause = allHeard
	}
	w.next = time.Now().Add(pause)
	if n > 0 {
		r.log.Info("pages are visited again that were fetched before the job was continuous", "job", id, "revision", w.since,
			"pages", n)
	}
	return err
}
