package frontier

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// revisits visits the pages of continuous jobs again. What is remembered of a page is changed by its outcome, by what
// its content tells, and by the dispatcher when it takes the page: each reads, decides and puts while it holds the lock
// of the page.
type revisits struct {
	store    crawl.Revisits // nil: pages are visited once
	calendar revisit.Calendar
	locks    [64]sync.Mutex // of pages, by their keys
	running  sync.WaitGroup // of looks at all pages

	mu   sync.Mutex
	jobs map[crawl.JobID]*again
}

// again is how a job's pages are visited again.
type again struct {
	mu       sync.Mutex
	job      *crawl.Job // the revision that the rest is of
	weight   func(url string) float64
	policy   revisit.Policy
	plan     revisit.Plan
	ration   revisit.Ration
	shares   revisit.Shares
	hosts    map[hostID]*revisit.Host // whose caps bind, or nearly do
	caps     map[hostID]*hostCap
	nextLook time.Time // for what is due
	levelled time.Time // when the thresholds were found last; zero: never
	levels   bool      // they are being found
	took     time.Duration
	began    time.Time
	figures  crawl.Freshness
	visits   visitCount
}

// hostID is a host by what the keys of its pages begin with.
type hostID uint64

func hostOf(k weburl.Key) hostID { return hostID(binary.BigEndian.Uint64(k[:])) }

// hostCap is what a host's politeness leaves to revisits.
type hostCap struct {
	revisit.Ration
	next time.Time // the first turn that is not promised to a page
}

// Shares of the turns of a host that revisits may have, and the most caps that are remembered. One that is forgotten
// begins with a full bucket.
const (
	revisitShare = .8
	maxCaps      = 100_000
)

// now is what the calendar shows.
func (r *revisits) now() time.Time { return r.calendar.At(time.Now()) }

// of returns how the pages of a job are visited again; nil: they are not.
func (r *revisits) of(job *crawl.Job) (*again, error) {
	if r.store == nil || !job.Revisits() {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.jobs[job.ID]
	if a == nil {
		a = &again{began: time.Now(), hosts: map[hostID]*revisit.Host{}, caps: map[hostID]*hostCap{}}
		r.jobs[job.ID] = a
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.job == job {
		return a, nil
	}
	weight, err := job.Revisit.WeightOf()
	if err != nil {
		return nil, crawl.Permanent(fmt.Errorf("frontier: job %s: %w", job.ID, err))
	}
	set := job.Revisit.Filled()
	perDay := float64(set.Budget)
	a.job, a.weight, a.policy = job, weight, job.Revisit.Policy()
	a.plan.PerDay, a.plan.Most = perDay, set.MaxAge.D()
	a.ration = revisit.NewRation(perDay, perDay/burstsPerDay)
	a.shares, a.levelled = revisit.NewShares(set.Discovery), time.Time{}
	return a, nil
}

// burstsPerDay: a quarter of an hour of a job's ration may be made good at once.
const burstsPerDay = 96

// lock locks pages, in the order of their locks; the returned function unlocks them.
func (r *revisits) lock(keys ...weburl.Key) (unlock func()) {
	held := make([]byte, 0, len(keys))
	for i := range keys {
		held = append(held, keys[i][len(keys[i])-1]%byte(len(r.locks)))
	}
	slices.Sort(held)
	held = slices.Compact(held)
	for _, i := range held {
		r.locks[i].Lock()
	}
	return func() {
		for _, i := range held {
			r.locks[i].Unlock()
		}
	}
}

// change reads what is remembered of pages, lets each decide, and puts what it returns true for.
func (r *revisits) change(ctx context.Context, job crawl.JobID, urls []weburl.URL, each func(i int, s *revisit.State) bool) error {
	keys := make([]weburl.Key, len(urls))
	for i := range urls {
		keys[i] = urls[i].Key()
	}
	defer r.lock(keys...)()
	states, err := r.store.States(ctx, job, keys...)
	if err != nil {
		return fmt.Errorf("frontier: %d pages between their visits, the first %s: %w", len(urls), urls[0], err)
	}
	var put []crawl.Revisit
	for i := range states {
		if each(i, &states[i]) {
			put = append(put, crawl.Revisit{URL: urls[i], State: states[i]})
		}
	}
	if len(put) == 0 {
		return nil
	}
	if err := wasDiscarded(r.store.Put(ctx, job, put...)); err != nil {
		return fmt.Errorf("frontier: %d pages between their visits, the first %s: %w", len(put), put[0].URL, err)
	}
	return nil
}

// leastTau is a threshold of nearly nothing: where there are more visits than pages want, each is due when it may be.
const leastTau = 1e-6

// policyOf is what the pages of a host are scheduled by. mu is held.
func (a *again) policyOf(h hostID) revisit.Policy {
	p := a.policy
	p.Tau, p.Most = max(a.plan.Tau(), leastTau), a.plan.Longest()
	if host := a.hosts[h]; host != nil {
		p.Tau = host.Tau()
	}
	return p
}

// cap returns what a host leaves to revisits, as far as that is known. mu is held.
func (a *again) cap(h hostID, c revisit.Calendar) *hostCap {
	hc := a.caps[h]
	if hc == nil {
		if len(a.caps) >= maxCaps {
			clear(a.caps)
		}
		p := &a.job.Politeness
		hc = &hostCap{Ration: revisit.NewRation(c.PerDay(revisit.HostPerDay(p.Delay.D(), 0, 0, revisitShare)), 1)}
		a.caps[h] = hc
	}
	return hc
}

// learnCap notes how long a host rests between two requests.
func (a *again) learnCap(h hostID, gap, took time.Duration, c revisit.Calendar) {
	a.mu.Lock()
	defer a.mu.Unlock()
	hc := a.cap(h, c)
	if !a.job.Politeness.Adapts() {
		took = 0
	}
	hc.PerDay = c.PerDay(revisit.HostPerDay(gap, 0, took, revisitShare))
	hc.Burst = max(hc.PerDay/burstsPerDay, 1)
}

// Ranges of the time to the next look at a page after a failure, and after the first visit.
const (
	failedLeast   = time.Hour
	failedMost    = 24 * time.Hour
	neverSeenMost = 30 * 24 * time.Hour
	firstLeast    = .7
	firstSpread   = .6
)

// due is when a page is visited next, by the calendar. mu is held.
func (a *again) due(k weburl.Key, s *revisit.State, failed bool, now time.Time) time.Time {
	p := a.policyOf(hostOf(k))
	if s.Gone {
		return time.Time{}
	}
	if failed && s.Last.IsZero() { // it was never had
		return now.Add(min(failedMost<<min(max(s.Visits, 1)-1, 5), neverSeenMost))
	}
	due, _ := revisit.Next(*s, p, now)
	switch {
	case failed:
		wait := min(max(due.Sub(s.Last), failedLeast), failedMost)
		return later(due, now.Add(wait))
	case s.Visits == 1 && s.Misses == 0 && !s.Withdrawn: // the pages of a new crawl are not to be due all at once
		part := firstLeast + firstSpread*float64(binary.BigEndian.Uint16(k[len(k)-2:]))/math.MaxUint16
		return now.Add(max(time.Duration(part*float64(due.Sub(now))), p.Least))
	}
	return due
}

// visits reports whether the pages of a job that was met are visited again.
func (r *revisits) visits(id crawl.JobID) bool {
	if r.store == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.jobs[id]
	return a != nil && a.continuous()
}

func (a *again) continuous() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.job != nil && a.job.Revisits()
}

// taskOf is what the ledger keeps to visit the URL of an outcome again; nil: nothing.
func (r *revisits) taskOf(out *crawl.Outcome) *crawl.Task {
	if out.Verdict != crawl.VerdictDone || !visited(out) || !r.visits(out.Task.Job) {
		return nil
	}
	t := out.Task
	t.Lease, t.Attempt, t.NotBefore, t.Repeat, t.Tracked, t.Visit = 0, 0, time.Time{}, false, false, 0
	t.ETag, t.LastModified, t.Sum, t.Restore, t.Finds, t.Priority = "", "", 0, false, 0, 0
	return &t
}
