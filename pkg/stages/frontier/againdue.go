package frontier

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// How many revisits wait in front queues at most, how many pages are looked at for what may be visited, and how often.
const (
	mostAhead    = 256
	mostLooked   = 4096
	dueLookLeast = 10 * time.Millisecond
	dueLookMost  = time.Second
)

// revisit queues the pages of continuous jobs that are due. They are queued first and then taken out of what is due:
// killed in between they are queued again as the same visits, and the ledger settles the second.
func (dp *dispatcher) revisit(ctx context.Context, now time.Time) (did bool, err error) {
	if dp.again.store == nil {
		return false, nil
	}
	var jobs []*jobState
	dp.mu.Lock()
	for _, js := range dp.jobs.byID {
		if js.job.Revisits() && !dp.paused && !js.held && !js.dead && !js.over && js.bound == "" {
			jobs = append(jobs, js)
		}
	}
	dp.mu.Unlock()
	for _, js := range jobs {
		some, err := dp.revisitJob(ctx, js, now)
		if err != nil {
			return did, err
		}
		did = did || some
	}
	return did, nil
}

func (dp *dispatcher) revisitJob(ctx context.Context, js *jobState, now time.Time) (bool, error) {
	job := dp.jobNow(js)
	a, err := dp.again.of(job)
	if a == nil || now.Before(a.look()) {
		return false, err
	}
	a.lookAgain(now.Add(min(max(dp.again.calendar.Real(revisit.BucketSpan), dueLookLeast), dueLookMost)))
	if !dp.level(ctx, job.ID, a, now) {
		return false, nil
	}
	n := int(mostAhead - dp.revisitsWaiting(job.ID))
	cal := dp.again.calendar.At(now)
	a.mu.Lock()
	left := a.ration.Left(cal)
	full := float64(left) >= a.ration.Burst/2
	n = min(n, left)
	a.mu.Unlock()
	if n <= 0 {
		return false, nil
	}
	due, err := dp.again.store.Due(ctx, job.ID, cal, 2*n)
	if err == nil && len(due) < n && full { // nothing else is due: what will be due next is visited ahead of time
		due, err = dp.ahead(ctx, job.ID, n)
	}
	if err != nil || len(due) == 0 {
		return false, err
	}
	return dp.takeDue(ctx, job, a, due, n, cal)
}

// ahead returns the pages that are due next, whenever that is.
func (dp *dispatcher) ahead(ctx context.Context, id crawl.JobID, n int) ([]crawl.Revisit, error) {
	return dp.again.store.Due(ctx, id, revisit.BucketStart(1<<32-1), min(8*n, mostLooked))
}

// pause is how long it is not looked for what is due.
func (r *revisits) pause(now time.Time) time.Duration {
	if r.store == nil {
		return dueLookMost
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := dueLookMost
	for _, a := range r.jobs {
		wait = min(wait, max(a.look().Sub(now), dueLookLeast))
	}
	return wait
}

// look is when it is looked next for what is due.
func (a *again) look() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.nextLook
}

func (a *again) lookAgain(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.nextLook = at
}

// revisitsWaiting is how many tasks wait in the front queues that revisits are put in.
func (dp *dispatcher) revisitsWaiting(id crawl.JobID) (n int64) {
	dp.mu.Lock()
	defer dp.mu.Unlock()
	j := dp.stock.fronts.jobs(id)
	for p := revisit.PriorityPlain; p <= revisit.PriorityHead; p++ {
		n += j.lengths[p]
	}
	return n
}

// takeDue queues n pages at most of those that may be visited, and puts those off whose hosts have no turn for them.
func (dp *dispatcher) takeDue(ctx context.Context, job *crawl.Job, a *again, due []crawl.Revisit, n int, now time.Time) (bool, error) {
	chosen, put := a.choose(due, n, now, dp.again.calendar)
	tasks, stale, err := dp.tasksOf(ctx, job, a, chosen, now)
	if err != nil {
		return false, err
	}
	put = append(put, stale...)
	if err := dp.enqueue(ctx, true, tasks...); err != nil {
		return false, err
	}
	taken := make([]crawl.Revisit, 0, len(tasks)+len(put))
	for i := range chosen {
		if chosen[i].Due.IsZero() {
			taken = append(taken, chosen[i])
		}
	}
	if put = append(taken, put...); len(put) > 0 {
		if err := wasDiscarded(dp.again.store.Put(ctx, job.ID, put...)); err != nil {
			return false, fmt.Errorf("frontier: take %d pages that are due: %w", len(put), err)
		}
	}
	a.mu.Lock()
	for range tasks {
		a.ration.Take(now)
	}
	if len(tasks) == n { // there may be more
		a.nextLook = time.Time{}
	}
	a.mu.Unlock()
	return len(tasks) > 0, nil
}

// choose picks the pages that may be visited now. Those of hosts at their caps come first: their visits are worth more,
// and a turn that is missed does not come back. A page whose host has no turn for it is put off until it has one.
func (a *again) choose(due []crawl.Revisit, n int, now time.Time, c revisit.Calendar) (chosen, off []crawl.Revisit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.SortStableFunc(due, func(x, y crawl.Revisit) int { return a.rank(&x) - a.rank(&y) })
	for i := range due {
		p := due[i]
		if len(chosen) == n {
			break
		}
		if p.Last.Add(a.policy.Least).After(now) && !p.Gone && p.Misses == 0 && p.Due.After(now) {
			continue
		}
		hc := a.cap(hostOf(p.URL.Key()), c)
		switch {
		case hc.Take(now):
			chosen = append(chosen, p)
		case !p.Due.After(now):
			turn := time.Duration(float64(24*time.Hour) / hc.PerDay)
			hc.next = later(hc.next, now).Add(turn)
			p.Due = hc.next
			off = append(off, p)
		}
	}
	return chosen, off
}

// rank is 0 for a page of a host at its cap, else 1.
func (a *again) rank(p *crawl.Revisit) int {
	if a.hosts[hostOf(p.URL.Key())] != nil {
		return 0
	}
	return 1
}

// notDone is when a page is looked at again whose present visit has no outcome yet.
const notDone = time.Hour

// tasksOf makes the tasks of the next visits of pages, and takes these out of what is due (their Due is zero then). A
// page that is on its way already is put off.
func (dp *dispatcher) tasksOf(ctx context.Context, job *crawl.Job, a *again, pages []crawl.Revisit, now time.Time) (tasks []crawl.Task, off []crawl.Revisit, err error) {
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
	t.Sum, t.Restore = p.Sum, p.Gone || p.Withdrawn
	if t.Sum != 0 && !t.Restore {
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
