package frontier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// jobOf returns the state of a job, loading it at first sight.
func (f *Frontier) jobOf(ctx context.Context, id crawl.JobID) (*jobState, error) {
	f.mu.Lock()
	js := f.jobs.of(id)
	var known *crawl.Job
	if js != nil {
		known = js.job
	}
	f.mu.Unlock()
	if js != nil && f.follow(ctx, js, known) {
		return js, nil
	}
	job, err := f.deps.Jobs.Job(ctx, id)
	if errors.Is(err, crawl.ErrDiscarded) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.jobs.meet(id, deadJob(id)), nil
	}
	if err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	tally, err := f.deps.Ledger.Tally(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("frontier: tally of job %s: %w", id, err)
	}
	kept, err := f.places.read(ctx, id)
	if err != nil {
		return nil, err
	}
	spent, err := f.spentBefore(ctx, job)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs.meet(id, &jobState{job: job, pages: int(tally.Pages), places: kept, spent: spent,
		bound: job.Bounds.Met(spent)}), nil
}

// spentBefore is what a job has spent of its bounds before it is met here. It is read where it has none, too: a
// revision may give it some.
func (f *Frontier) spentBefore(ctx context.Context, job *crawl.Job) (spent crawl.Spent, err error) {
	if f.deps.Spending == nil {
		return spent, nil
	}
	if spent, err = f.deps.Spending.Spent(ctx, job.ID); err != nil {
		err = fmt.Errorf("frontier: %w", err)
	}
	return spent, err
}

// follow makes sure that the state is that of the job as it is now; false: another life of the job has begun. What a
// store cannot say at the moment stays as it was.
func (f *Frontier) follow(ctx context.Context, js *jobState, known *crawl.Job) bool {
	job, err := f.deps.Jobs.Job(ctx, known.ID)
	if errors.Is(err, crawl.ErrDiscarded) {
		f.Discard(known.ID)
	}
	if err != nil || job == known {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.succeeds(js, job) {
		return false
	}
	if crawl.EpochOf(job.Epoch) >= crawl.EpochOf(js.job.Epoch) {
		f.setJob(js, job)
	}
	return true
}

// jobNow is the job as it is now.
func (f *Frontier) jobNow(js *jobState) *crawl.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	return js.job
}

// Hold keeps one job's tasks from being leased, or lets them go on, and reports whether that is a change. Other jobs go
// on meanwhile.
func (f *Frontier) Hold(id crawl.JobID, held bool) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.jobs.hold(id, held) {
		return false
	}
	if !held {
		f.stock.retrieve(id)
	}
	f.signal()
	return true
}

// Exhausted reports whether a job has spent its page budget and none of its pages is under way, nor any asset left. For
// a job that is held the answer is false until it goes on.
func (f *Frontier) Exhausted(id crawl.JobID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	js := f.jobs.of(id)
	return js != nil && !js.held && js.exhausted() && !f.assetsLeft(js)
}

// Recount reads from the ledger how many pages of jobs have been fetched: of those named, or of all that were met.
func (f *Frontier) Recount(ctx context.Context, ids ...crawl.JobID) error {
	if len(ids) == 0 {
		f.mu.Lock()
		ids = slices.Collect(maps.Keys(f.jobs.byID))
		f.mu.Unlock()
	}
	for _, id := range ids {
		counted := f.Counting(id)
		tally, err := f.deps.Ledger.Tally(ctx, id)
		if errors.Is(err, crawl.ErrDiscarded) {
			continue
		}
		if err != nil {
			return fmt.Errorf("frontier: tally of job %s: %w", id, err)
		}
		counted(tally.Pages)
	}
	return nil
}

// Counting begins to read how many pages of a job have been fetched, by all nodes. What it returns is told the number.
// Pages that this node counts meanwhile are added. Some may be in the number too, until the next one is read: it is
// never too small, so that the budget is not exceeded.
func (f *Frontier) Counting(id crawl.JobID) (counted func(pages int64)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := int64(0)
	if js := f.jobs.of(id); js != nil {
		before = js.added
	}
	return func(pages int64) {
		f.mu.Lock()
		defer f.mu.Unlock()
		js := f.jobs.of(id)
		if js == nil {
			return
		}
		if pages += js.added - before; js.pages != int(pages) {
			js.pages = int(pages)
			f.stock.retrieve(id)
			f.signal()
		}
	}
}
