package node

import (
	"context"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// watchEvery is how often it is looked whether a job has ended.
const watchEvery = 20 * time.Millisecond

// watch notes the end of a job, and returns then, or when ctx is done.
//
//nolint:contextcheck // a job runs in the context of the engine, whoever asked for it
func (e *Engine) watch(ctx context.Context, j *engineJob) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if e.store.Many() && e.store.JobFault(j.id) != nil { // its records cannot be stored: no more of them
			e.frontier.Hold(j.id, true)
			continue
		}
		if j.reading() {
			if e.frontier.Exhausted(j.id) {
				j.feeds().end() // there is no room for more; a larger budget goes on with the list
			}
			continue
		}
		if e.endless(ctx, j.id) {
			continue
		}
		if e.hasEnded(j.id) && e.concluded(ctx, j) && e.delivered(ctx, j) {
			e.noteEnd(j)
			return
		}
	}
}

// noteEnd notes that a job has ended: nothing more of it is leased, also where a host of it may be asked again later.
// A stop or a new submission of the job meanwhile has the last word.
func (e *Engine) noteEnd(j *engineJob) {
	if e.ended != nil {
		e.ended(j.id)
		return
	}
	e.beside.Go(func() { // who halts the job waits for its watch
		if err := e.markEnded(j); err != nil {
			e.log.Error("the end of a job could not be noted; the next start finds it again", "job", j.id, "error", err)
		}
	})
}

// markEnded marks a job as one that has ended, if it still has.
func (e *Engine) markEnded(j *engineJob) error {
	j.turn.Lock()
	defer j.turn.Unlock()
	j.halt()
	m := j.marked()
	if m.Stopped {
		return nil
	}
	ctx := context.Background()
	job, more, err := e.moreToDo(ctx, j.id)
	if err != nil {
		return errors.Join(err, e.start(j))
	}
	if more {
		return e.start(j)
	}
	if err := e.archives.end(j.id); err != nil {
		e.log.Warn("the WARC files of a job that has ended were not closed; the next start finishes them", "job", j.id,
			"error", err)
	}
	m.Ended, m.EndedBy = true, crawl.EpochOf(job.Epoch)
	if err := e.setMark(ctx, j, m); err != nil {
		return err
	}
	tally, err := e.store.URLs().Tally(ctx, j.id)
	e.log.Info("the job has ended", "job", j.id, "pages", tally.Pages, "urls", tally.Claimed)
	e.frontier.Forget(j.id)
	return err
}

// moreToDo reports whether a job that seemed to have ended got more work meanwhile, or a revision whose sweep is due or
// by which it does not end. Nobody revises it now.
func (e *Engine) moreToDo(ctx context.Context, id crawl.JobID) (job *crawl.Job, more bool, err error) {
	if job, err = e.store.Jobs().Job(ctx, id); err != nil {
		return nil, false, err
	}
	sweep, err := e.store.Jobs().Sweep(ctx, id)
	return job, !e.hasEnded(id) || sweep.Due() && !e.frontier.Exhausted(id) || e.endless(ctx, id), err
}

// hasEnded reports whether nothing of a job is queued or under way, or its budget is spent.
//
// A URL that was claimed is open in the ledger until it has its outcome, and whatever names further URLs is a message
// under way until they are claimed. Between two looks an open URL may become a message and the message an open URL; but
// not without a lease, so the job's leases are counted before and after. Where the frontier holds nothing of any job,
// the ledger is not asked: what it may hold open beside was lost, and an audit tells.
func (e *Engine) hasEnded(id crawl.JobID) bool {
	if !e.store.Many() {
		return e.Finished(id)
	}
	before := e.frontier.JobStats(id)
	if before.InFlight > 0 || e.bus.OutstandingOf(id) > 0 {
		return false
	}
	if !e.frontier.Exhausted(id) && e.store.URLs().Open(id) > 0 && !e.empty() {
		return false
	}
	s := e.frontier.JobStats(id)
	return s == before && e.bus.OutstandingOf(id) == 0
}

// empty reports whether the frontier holds no task of any job that it is to lease.
func (e *Engine) empty() bool {
	s := e.frontier.Stats()
	return s.InFlight == 0 && s.Queued == s.Shut
}

// concluded reports whether a crawl of which nothing is queued or under way has ended, or lets in more that older
// revisions left out. Where the page budget is spent that is for another revision to ask.
func (e *Engine) concluded(ctx context.Context, j *engineJob) bool {
	if e.frontier.Exhausted(j.id) {
		return true
	}
	done, err := j.sweeper.lastPass(ctx, j.id, func(context.Context) (bool, error) { return e.hasEnded(j.id), nil })
	if err != nil && ctx.Err() == nil {
		e.log.Error("URLs that were left out are looked at again when the crawl goes on", "job", j.id, "error", err)
	}
	return done && ctx.Err() == nil
}
