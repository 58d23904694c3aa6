package revisits

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// notDone is when a page is looked at again whose present visit has no outcome yet.
const notDone = time.Hour

// Tasks makes the tasks of the visits, by a revision of the job and by what the ledger has of the pages, in the order
// of Keys. A page that is on its way already is put off.
func (t *Turn) Tasks(job *crawl.Job, entries []crawl.Entry) (tasks []crawl.Task) {
	t.job.mu.Lock()
	defer t.job.mu.Unlock()
	for i := range t.chosen {
		p, e := &t.chosen[i], &entries[i]
		if e.State == crawl.StateOpen {
			late := *p
			late.Due = t.at.Add(notDone)
			t.off = append(t.off, late)
			continue
		}
		tasks = append(tasks, t.job.task(job, p, e, t.at))
		p.Due = time.Time{}
	}
	t.tasks = len(tasks)
	return tasks
}

// task makes the task of a page's next visit. mu is held.
func (j *Job) task(job *crawl.Job, p *crawl.Revisit, e *crawl.Entry, now time.Time) crawl.Task {
	t := crawl.Task{Epoch: job.Epoch}
	if e.Again != nil {
		t = *e.Again
	}
	_, priority := revisit.Next(p.State, j.policy, now)
	t.Job, t.URL, t.Kind, t.Priority = job.ID, p.URL, e.Kind, int(priority)
	t.Visit = max(int(e.Visit), int(p.Visits)-1) + 1
	t.Attempt, t.NotBefore, t.Lease, t.Finds, t.Paid = 0, time.Time{}, 0, 0, false
	t.Repeat = true // it may be queued twice, if the process is killed now: the ledger is asked before it is leased
	t.Seed = t.Seed || p.Kind == revisit.Seed
	// Where the last visit has its outcome and was not observed, its content may not have come as far as the record: the
	// whole page is asked for, and written.
	observed := int64(p.Visits) > int64(e.Visit)
	t.Sum, t.Restore, t.Copy = p.Sum, p.Gone || p.Withdrawn || p.Moved || !observed, p.Copy
	t.SetRepeated(j.repeated[uint64(hostOf(p.URL.Key()))])
	if t.Sum != 0 && !t.Restore && !t.Copy { // a copy is asked for whole: its content may be stored nowhere by now
		t.ETag, t.LastModified = e.Validators.ETag, e.Validators.LastModified
	}
	return t
}

// Kept is what the ledger keeps of a task so that its URL can be visited again.
func Kept(t crawl.Task) *crawl.Task {
	t.Lease, t.Attempt, t.NotBefore, t.Repeat, t.Tracked, t.Visit = 0, 0, time.Time{}, false, false, 0
	t.ETag, t.LastModified, t.Sum, t.Restore, t.Copy, t.Finds, t.Priority = "", "", 0, false, false, 0, 0
	return &t
}
