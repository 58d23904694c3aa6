package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A job whose time or bytes are spent (crawl.Bounds) ends as one does that has its pages: what is under way is
// finished, and nothing is leased. What is spent is counted in a store (crawl.Spending), so it holds over restarts.

// countEvery is how often the time that a job takes is counted, and read what other nodes counted.
const countEvery = time.Second

// setSpent notes what a job has spent, and whether a bound is met by it.
func (js *jobState) setSpent(s crawl.Spent) (changed bool) {
	was := js.bound
	js.spent.Bytes, js.spent.Time = max(s.Bytes, js.spent.Bytes), max(s.Time, js.spent.Time)
	js.bound = js.job.Bounds.Met(js.spent)
	return js.bound != was
}

// spendBytes counts the bytes that the outcomes brought.
func (o Outcomes) spendBytes(ctx context.Context, d *digest) error {
	var sums map[*jobState]int64
	for _, r := range d.rs {
		if r.gone || r.Wire == 0 || !r.job.Bounds.Counted() {
			continue
		}
		if sums == nil {
			sums = map[*jobState]int64{}
		}
		sums[r.js] += r.Wire
	}
	for js, n := range sums {
		if err := o.f.spend(ctx, js, n, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// spend counts what a job has spent since it was last counted.
func (f *Frontier) spend(ctx context.Context, js *jobState, bytes int64, now time.Time) error {
	if f.deps.Spending == nil {
		return nil
	}
	job := f.jobNow(js)
	id := job.ID
	spent, err := f.deps.Spending.Spend(crawl.UnderEpoch(ctx, id, job.Epoch), id, bytes, now)
	if err != nil {
		if err = crawl.UnlessDiscarded(err); err == nil {
			return nil
		}
		return fmt.Errorf("frontier: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	js.counted = now
	if js.setSpent(spent) {
		f.deps.Log.Info("a bound of the job is met: what is under way is finished, and nothing more is fetched", "job", id,
			"bound", js.bound)
		f.signal()
	}
	return nil
}

// spendTime counts the time of the jobs that run.
func (dp *dispatcher) spendTime(ctx context.Context, now time.Time) (bool, error) {
	var due []*jobState
	dp.mu.Lock()
	for _, js := range dp.jobs.byID {
		if !dp.paused && js.counts() && !now.Before(js.countDue()) {
			due = append(due, js)
		}
	}
	dp.mu.Unlock()
	for _, js := range due {
		if err := dp.spend(ctx, js, 0, now); err != nil {
			return false, err
		}
	}
	return false, nil
}

// counts reports whether the job spends of its bounds by running.
func (js *jobState) counts() bool {
	return js.job.Bounds.Counted() && !js.dead && !js.held && !js.over && js.bound == ""
}

// countDue is when the job's time is to be counted next: when it may be over at the latest.
func (js *jobState) countDue() time.Time {
	at := js.counted.Add(countEvery)
	if limit := js.job.Bounds.MaxTime.D(); limit > 0 && !js.counted.IsZero() {
		if end := js.counted.Add(limit - js.spent.Time); end.Before(at) {
			at = end
		}
	}
	return at
}

// boundDue is when the time of a job may be over that has not long to run; zero: none.
func (f *Frontier) boundDue() (due time.Time) {
	for _, js := range f.jobs.byID {
		if !js.counts() || js.job.Bounds.MaxTime <= 0 || js.counted.IsZero() {
			continue
		}
		if at := js.countDue(); due.IsZero() || at.Before(due) {
			due = at
		}
	}
	return due
}

// SetOver tells whether a job has ended: its time is not counted then.
func (f *Frontier) SetOver(id crawl.JobID, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if js := f.jobs.of(id); js != nil {
		js.over = over
	}
}

// Knows reports whether the frontier had to do with the job since it began.
func (f *Frontier) Knows(id crawl.JobID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs.of(id) != nil
}
