package frontier

import (
	"context"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// split tells apart what is kept. Where all are, which is the rule, nothing is copied.
func split[T any](ds []T, keep func(*T) bool) (kept, others []T) {
	for i := range ds {
		switch {
		case !keep(&ds[i]):
			if len(others) == 0 {
				kept = slices.Clone(ds[:i])
			}
			others = append(others, ds[i])
		case len(others) > 0:
			kept = append(kept, ds[i])
		}
	}
	if len(others) == 0 {
		return ds, nil
	}
	return kept, others
}

// rollCall looks up the jobs of tasks that come one after the other: once for as long as the job stays the same.
type rollCall struct {
	f     *Frontier
	id    crawl.JobID
	js    *jobState // nil: not looked up, or not available
	err   error     // why it cannot
	dead  bool
	first uint32
}

// of looks up the job of a task.
func (r *rollCall) of(ctx context.Context, t *crawl.Task) (*jobState, error) {
	if r.id == t.Job && r.js != nil {
		return r.js, nil
	}
	r.id = t.Job
	if r.js, r.err = r.f.jobOf(ctx, t.Job); r.err != nil {
		return nil, r.err
	}
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.dead, r.first = r.js.dead, r.js.job.First
	return r.js, nil
}

// discarded reports whether a task belongs to a job that was deleted, or to a former life of it.
func (r *rollCall) discarded(ctx context.Context, t *crawl.Task) bool {
	_, err := r.of(ctx, t)
	return err == nil && (r.dead || t.JobEpoch() < r.first)
}

// dropDiscarded takes what was discarded out of tasks that were pulled, and settles it.
func (dp *dispatcher) dropDiscarded(ctx context.Context, ds []crawl.Delivery) []crawl.Delivery {
	roll := rollCall{f: dp.Frontier}
	kept, gone := split(ds, func(d *crawl.Delivery) bool { return !roll.discarded(ctx, &d.Task) })
	if len(gone) == 0 {
		return kept
	}
	dp.out.settle(gone...)
	dp.mu.Lock()
	dp.stock.queued -= int64(len(gone))
	dp.mu.Unlock()
	return kept
}

// orphans separates the tasks of unknown jobs: left from another database, or from a job that was removed.
func (dp *dispatcher) orphans(ctx context.Context, ds []crawl.Delivery) (rest, orphans []crawl.Delivery) {
	roll := rollCall{f: dp.Frontier}
	rest, orphans = split(ds, func(d *crawl.Delivery) bool {
		_, err := roll.of(ctx, &d.Task)
		return !crawl.IsPermanent(err)
	})
	if len(orphans) > 0 {
		dp.deps.Log.Error("tasks are set aside, because nobody knows their job: submit it again, and restart the frontier",
			"job", orphans[0].Task.Job, "tasks", len(orphans), "first", orphans[0].Task.URL)
	}
	return rest, orphans
}

// splitForeign takes the tasks of other nodes' hosts out of ds.
func (dp *dispatcher) splitForeign(ds []crawl.Delivery) (own, foreign []crawl.Delivery) {
	return split(ds, func(d *crawl.Delivery) bool { return dp.duties.owns(d.Task.URL) })
}
