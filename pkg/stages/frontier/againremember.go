package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A job may become continuous by a revision, and stop being so, and become so again. What was fetched while it visited
// its URLs once is to be visited again like the rest. Outcomes that this frontier handles after it has heard of the
// revision are noted by it. What it handled before is in the ledger: Remember is told of it (crawl.Unremembered).

// Remember has pages of a continuous job visited again that are this node's, were visited, and are not to be visited
// otherwise, and returns how many they are. Of others it changes nothing. What it is told twice, it remembers once. A
// task's Sum is what the page said at its visit, 0 where that is not known.
//
// The pages become due one after the other, as many a day as the node has visits.
func (f *Frontier) Remember(ctx context.Context, id crawl.JobID, tasks []crawl.Task) (n int, err error) {
	js, err := f.jobOf(ctx, id)
	if err != nil {
		return 0, err
	}
	job := f.jobNow(js)
	a, err := f.again.of(job)
	if a == nil {
		return 0, err
	}
	own, _ := split(tasks, func(t *crawl.Task) bool { return f.duties.owns(t.URL) })
	if len(own) == 0 {
		return 0, nil
	}
	entries, err := f.visitsOf(crawl.UnderEpoch(ctx, id, job.Epoch), id, own)
	if err != nil {
		return 0, err
	}
	urls, wanted := make([]weburl.URL, len(own)), make([]bool, len(own))
	for i := range own {
		urls[i] = own[i].URL
		if wanted[i], err = f.wantsAgain(job, &own[i], &entries[i]); err != nil {
			return 0, err
		}
	}
	now := f.again.now()
	err = f.again.change(ctx, id, urls, func(i int, s *revisit.State) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		// What is remembered becomes due, wanted or not: a visit that is not wanted is concluded without a fetch.
		put := (wanted[i] || *s != (revisit.State{})) && a.remember(&own[i], &entries[i], s, now, f.again.calendar)
		if put {
			n++
		}
		return put
	})
	if n > 0 {
		f.signal()
	}
	return n, err
}

// wantsAgain reports whether a job wants a page of which nothing is remembered. Where it has later visits a revision
// may have left it out: the job's rules decide. A page with its first visit alone is judged when its turn comes.
func (f *Frontier) wantsAgain(job *crawl.Job, t *crawl.Task, e *crawl.Entry) (bool, error) {
	if e.Visit == 0 || f.deps.Judge == nil {
		return true, nil
	}
	if e.Again != nil { // it knows more than a line of crawl.log
		kept := *e.Again
		kept.Job, kept.URL, kept.Kind = t.Job, t.URL, t.Kind
		t = &kept
	}
	reason, _, err := f.deps.Judge(job, t)
	if err != nil {
		return false, fmt.Errorf("frontier: judge %s by revision %d of job %s: %w", t.URL, job.Epoch, job.ID, err)
	}
	return reason == "", nil
}

// visitsOf looks up what the ledger knows of tasks, and keeps them beside their outcomes, where their next visits find
// them.
func (f *Frontier) visitsOf(ctx context.Context, id crawl.JobID, tasks []crawl.Task) ([]crawl.Entry, error) {
	keys := make([]weburl.Key, len(tasks))
	for i := range tasks {
		keys[i] = tasks[i].URL.Key()
	}
	entries, err := f.deps.Ledger.Lookup(ctx, id, keys...)
	if err != nil {
		return nil, fmt.Errorf("frontier: look up %d pages that were fetched, the first %s: %w", len(tasks), tasks[0].URL,
			err)
	}
	var keep []crawl.Entry
	for i := range entries {
		e := entries[i]
		if e.State == crawl.StateDone && e.Verdict == crawl.VerdictDone && e.Again == nil {
			e.Again = againTask(tasks[i])
			keep = append(keep, e)
		}
	}
	if len(keep) == 0 {
		return entries, nil
	}
	if err := wasDiscarded(f.deps.Ledger.Finish(ctx, id, keep...)); err != nil {
		return nil, fmt.Errorf("frontier: keep the tasks of %d pages that were fetched, the first %s: %w", len(keep),
			tasks[0].URL, err)
	}
	return entries, nil
}

// remember makes a page due of which nothing is remembered, or whose last visit is not, and reports whether it did. mu
// is held.
func (a *again) remember(t *crawl.Task, e *crawl.Entry, s *revisit.State, now time.Time, c revisit.Calendar) bool {
	if e.State != crawl.StateDone || !s.Due.IsZero() || s.Gone || s.Visits > e.Visit {
		return false
	}
	if *s != (revisit.State{}) { // its last visit was made while the job visited its URLs once
		s.Due = a.turn(now)
		return true
	}
	fetched := e.Verdict == crawl.VerdictDone && e.Status/100 == 2
	if e.Verdict == crawl.VerdictExcluded || !fetched && !t.Seed {
		return false
	}
	a.weigh(t, s, false)
	// Later visits may have been made though nothing is remembered: what was remembered goes with a first visit that is
	// taken back, and with a page that is left out.
	s.Visits = max(e.Visit, 1)
	if !fetched {
		s.Due = a.due(t.URL.Key(), s, true, now)
		return true
	}
	s.Last, s.Rate, s.Sum, s.Due = c.At(e.At).Truncate(time.Second), revisit.Unknown(), t.Sum, a.turn(now)
	return true
}

// turn is when the next of the pages that are remembered is due. mu is held.
func (a *again) turn(now time.Time) time.Time {
	every := time.Duration(float64(24*time.Hour) / max(a.plan.PerDay*a.share, 1))
	a.filled = later(a.filled, now).Add(every)
	return a.filled
}

// againTask is what the ledger keeps of a task so that its URL can be visited again.
func againTask(t crawl.Task) *crawl.Task {
	t.Lease, t.Attempt, t.NotBefore, t.Repeat, t.Tracked, t.Visit = 0, 0, time.Time{}, false, false, 0
	t.ETag, t.LastModified, t.Sum, t.Restore, t.Copy, t.Finds, t.Priority = "", "", 0, false, false, 0, 0
	return &t
}

// recordAgain records results once more that were recorded while their job visited its URLs once, and that are noted by
// a revision by which it is continuous: what their next visits need is kept with them.
func (o Outcomes) recordAgain(ctx context.Context, rs []*result) error {
	outs := make([]*crawl.Outcome, 0, len(rs))
	for _, r := range rs {
		if !r.job.Revisits() {
			outs = append(outs, &r.Outcome)
		}
	}
	if len(outs) == 0 {
		return nil
	}
	return o.f.finish(ctx, outs, make([]bool, len(outs)), rs[0].now)
}
