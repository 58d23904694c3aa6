package frontier

import (
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier/revisits"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A job may become continuous by a revision, and stop being so, and become so again. What was fetched while it visited
// its URLs once is to be visited again like the rest. Outcomes that this frontier handles after it has heard of the
// revision are noted by it. What it handled before is in the ledger: Remember is told of it (crawl.Unremembered).

// Remember has pages of a continuous job visited again that are this node's, were visited, and are not to be visited
// otherwise, and returns how many they are. Of others it changes nothing. What it is told twice, it remembers once. A
// task's Sum is what the page said at its visit, 0 where that is not known.
func (f *Frontier) Remember(ctx context.Context, id crawl.JobID, tasks []crawl.Task) (n int, err error) {
	js, err := f.jobOf(ctx, id)
	if err != nil {
		return 0, err
	}
	job := f.jobNow(js)
	a, err := f.book.Job(job)
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
	wanted := make([]bool, len(own))
	for i := range own {
		if wanted[i], err = f.wantsAgain(job, &own[i], &entries[i]); err != nil {
			return 0, err
		}
	}
	if n, err = a.Remember(ctx, own, entries, wanted); n > 0 {
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
			e.Again = revisits.Kept(tasks[i])
			keep = append(keep, e)
		}
	}
	if len(keep) == 0 {
		return entries, nil
	}
	if err := crawl.UnlessDiscarded(f.deps.Ledger.Finish(ctx, id, keep...)); err != nil {
		return nil, fmt.Errorf("frontier: keep the tasks of %d pages that were fetched, the first %s: %w", len(keep),
			tasks[0].URL, err)
	}
	return entries, nil
}
