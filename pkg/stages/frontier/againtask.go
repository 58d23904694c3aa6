package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// notDone is when a page is looked at again whose present visit has no outcome yet.
const notDone = time.Hour

// tasksOf makes the tasks of the next visits of pages, and takes these out of what is due (their Due is zero then). A
// page that is on its way already is put off.
func (dp *dispatcher) tasksOf(ctx context.Context, job *crawl.Job, a *again, pages []crawl.Revisit,
	now time.Time) (tasks []crawl.Task, off []crawl.Revisit, err error) {
	if len(pages) == 0 {
		return nil, nil, nil
	}
	keys := make([]weburl.Key, len(pages))
	for i := range pages {
		keys[i] = pages[i].URL.Key()
	}
	entries, err := dp.deps.Ledger.Lookup(ctx, job.ID, keys...)
	if err != nil {
		return nil, nil, fmt.Errorf("frontier: look up %d pages that are due: %w", len(pages), err)
	}
	for i := range pages {
		p, e := &pages[i], &entries[i]
		if e.State == crawl.StateOpen {
			late := *p
			late.Due = now.Add(notDone)
			off = append(off, late)
			continue
		}
		a.mu.Lock()
		tasks = append(tasks, a.task(job, p, e, now))
		a.mu.Unlock()
		p.Due = time.Time{}
	}
	return tasks, off, nil
}

// task makes the task of a page's next visit. mu is held.
func (a *again) task(job *crawl.Job, p *crawl.Revisit, e *crawl.Entry, now time.Time) crawl.Task {
	t := crawl.Task{Epoch: job.Epoch}
	if e.Again != nil {
		t = *e.Again
	}
	_, priority := revisit.Next(p.State, a.policy, now)
	t.Job, t.URL, t.Kind, t.Priority = job.ID, p.URL, e.Kind, int(priority)
	t.Visit = max(int(e.Visit), int(p.Visits)-1) + 1
	t.Attempt, t.NotBefore, t.Lease, t.Finds, t.Paid = 0, time.Time{}, 0, 0, false
	t.Repeat = true // it may be queued twice, if the process is killed now: the ledger is asked before it is leased
	t.Seed = t.Seed || p.Kind == revisit.Seed
	// Where the last visit has its outcome and was not observed, its content may not have come as far as the record: the
	// whole page is asked for, and written.
	observed := int64(p.Visits) > int64(e.Visit)
	t.Sum, t.Restore, t.Copy = p.Sum, p.Gone || p.Withdrawn || p.Moved || !observed, p.Copy
	t.SetRepeated(a.repeated[uint64(hostOf(p.URL.Key()))])
	if t.Sum != 0 && !t.Restore && !t.Copy { // a copy is asked for whole: its content may be stored nowhere by now
		t.ETag, t.LastModified = e.Validators.ETag, e.Validators.LastModified
	}
	return t
}

// takenAgain notes that the next visit of a page is queued because the last one was cut short: it is not due besides.
func (f *Frontier) takenAgain(ctx context.Context, t *crawl.Task) error {
	return f.again.change(ctx, t.Job, []weburl.URL{t.URL}, func(_ int, s *revisit.State) bool {
		if s.Visits > uint32(t.Visit) || s.Due.IsZero() {
			return false
		}
		s.Due = time.Time{}
		return true
	})
}
