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
	active := make([]*again, 0, len(jobs))
	for _, js := range jobs {
		job := dp.jobNow(js)
		a, err := dp.again.of(job)
		if a == nil {
			if err != nil {
				return did, err
			}
			continue
		}
		active = append(active, a)
		some, err := dp.revisitJob(ctx, job.ID, a, now)
		if err != nil {
			return did, err
		}
		did = did || some
	}
	dp.again.setActive(active)
	return did, nil
}

// setActive notes the jobs whose pages may be due.
func (r *revisits) setActive(active []*again) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active = active
}

// Meet has the frontier visit the pages of a job again though no task of it is queued.
func (f *Frontier) Meet(ctx context.Context, id crawl.JobID) error {
	_, err := f.jobOf(ctx, id)
	f.signal()
	return err
}

func (dp *dispatcher) revisitJob(ctx context.Context, id crawl.JobID, a *again, now time.Time) (bool, error) {
	if look := a.look(); now.Before(look) && look.Sub(now) <= dueLookMost { // else the clock has gone back
		return false, nil
	}
	a.setLook(now.Add(min(max(dp.again.calendar.Real(revisit.BucketSpan), dueLookLeast), dueLookMost)))
	if !dp.censusTaken(ctx, id, a, now) {
		return false, nil
	}
	n := int(mostAhead - dp.revisitsWaiting(id))
	cal := dp.again.calendar.At(now)
	a.mu.Lock()
	left := a.ration.Left(cal)
	full := float64(left) >= a.ration.Burst/2
	n = min(n, left)
	a.mu.Unlock()
	if n <= 0 {
		return false, nil
	}
	due, err := dp.again.store.Due(ctx, id, cal, 2*n, dp.ownNow)
	if err == nil && a.looksAhead(now, full && len(due) < n) {
		due, err = dp.ahead(ctx, id, due)
	}
	if err != nil || len(due) == 0 {
		return false, err
	}
	return dp.takeDue(ctx, a.revision(), a, due, n, cal, full)
}

// looksAhead reports whether pages are looked at that are due later: nothing else is due, and the ration is to be spent
// (spare), or hosts are at their caps. What these allow is less than their pages want, so a turn of theirs that passes
// is lost, and their next page is visited ahead of time; that is looked for once a second.
func (a *again) looksAhead(now time.Time, spare bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.hosts) == 0 || now.Before(a.nextAhead) && a.nextAhead.Sub(now) <= dueLookMost {
		return spare
	}
	a.nextAhead = now.Add(dueLookMost)
	return true
}

// ownNow reports whether a page is this node's to visit at the moment.
func (dp *dispatcher) ownNow(u weburl.URL) bool {
	p := dp.duties.place(u)
	return p.Node == "" && p.Lease
}

// ahead adds the pages that are due next, whenever that is, to those that are due. What is due now comes first.
func (dp *dispatcher) ahead(ctx context.Context, id crawl.JobID, due []crawl.Revisit) ([]crawl.Revisit, error) {
	next, err := dp.again.store.Due(ctx, id, revisit.BucketStart(1<<32-1), mostLooked, dp.ownNow)
	if len(next) < len(due) { // so many are due that the look goes no further
		return due, err
	}
	return next, err
}

// pause is how long it is not looked for what is due.
func (r *revisits) pause(now time.Time) time.Duration {
	if r.store == nil {
		return dueLookMost
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := dueLookMost
	for _, a := range r.active {
		wait = min(wait, max(a.look().Sub(now), dueLookLeast))
	}
	return wait
}

// revision is the job as the pages are visited by it.
func (a *again) revision() *crawl.Job {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.job
}

// look is when it is looked next for what is due.
func (a *again) look() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.nextLook
}

func (a *again) setLook(at time.Time) {
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
func (dp *dispatcher) takeDue(ctx context.Context, job *crawl.Job, a *again, due []crawl.Revisit, n int, now time.Time,
	spare bool) (bool, error) {
	chosen, put := a.choose(due, n, now, dp.again.calendar, spare)
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
// and a turn that is missed does not come back; theirs are taken ahead of time. Other pages are where there are visits
// to spare. A page whose host has no turn for it is put off until it has one.
func (a *again) choose(due []crawl.Revisit, n int, now time.Time, c revisit.Calendar,
	spare bool) (chosen, off []crawl.Revisit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.SortStableFunc(due, func(x, y crawl.Revisit) int { return a.rank(&x) - a.rank(&y) })
	for i := range due {
		p := due[i]
		if len(chosen) == n {
			break
		}
		if p.Due.After(now) && (!spare && a.rank(&p) > 0 || !a.mayComeEarly(&p, now)) {
			continue
		}
		hc := a.cap(hostOf(p.URL.Key()), c)
		switch {
		case a.toldTooSoon(&p, now):
			off = append(off, p)
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

// toldTooSoon puts a page off that is due because a list told of it, where the lists of its host turned out to be wrong
// meanwhile: such a host may tell of thousands of pages at once. mu is held.
func (a *again) toldTooSoon(p *crawl.Revisit, now time.Time) bool {
	if !p.IsTold() || p.Due.After(now) || p.Misses > 0 || p.Gone {
		return false
	}
	next, _ := revisit.Next(p.State, a.policyOf(hostOf(p.URL.Key())), now)
	if !next.After(now.Add(revisit.BucketSpan)) {
		return false
	}
	p.Due = next
	return true
}

// mayComeEarly reports whether a page may be visited before it is due: it was had, its least interval is over, and
// nothing puts it off. mu is held.
func (a *again) mayComeEarly(p *crawl.Revisit, now time.Time) bool {
	if p.Last.IsZero() || p.Misses > 0 || p.Withdrawn || p.Gone || p.Last.Add(a.policy.Least).After(now) {
		return false
	}
	policy := a.policyOf(hostOf(p.URL.Key()))
	policy.Cycle = nil // whom the hours put off is put off
	next, _ := revisit.Next(p.State, policy, now)
	return next.After(now) // else a failure, or its host, put it off
}

// rank is 0 for a page of a host at its cap, else 1.
func (a *again) rank(p *crawl.Revisit) int {
	if a.hosts[hostOf(p.URL.Key())] != nil {
		return 0
	}
	return 1
}
