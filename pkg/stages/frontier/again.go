package frontier

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
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
	// active are those that were looked at last: of the others nothing is due.
	active []*again
}

// again is how a job's pages are visited again.
type again struct {
	mu       sync.Mutex
	job      *crawl.Job // the revision that the rest is of
	weight   func(url string) float64
	policy   revisit.Policy
	plan     revisit.Plan
	ration   revisit.Ration
	hosts    map[hostID]*revisit.Host // whose caps bind, or nearly do
	caps     map[hostID]*hostCap
	nextLook time.Time // for what is due
	// nextAhead is when pages of hosts at their caps are looked for next that are due later.
	nextAhead time.Time
	counted   time.Time     // when the last census ended, which finds the thresholds; zero: there was none
	counting  bool          // a census is under way
	took      time.Duration // of the last census
	began     time.Time
	figures   crawl.FreshnessDetail
	share     float64 // of the ration, that this node has: see count
	moved     bool    // the ring has changed since the shares were counted
	visits    visitCount
	learned   map[hostID]*habits  // of hosts whose pages were visited
	repeated  map[uint64][]uint64 // sums that many pages of a host have, as they were counted last
	filled    time.Time           // when the page is due that was remembered last: see turn
}

// hostID is a host by what the keys of its pages begin with.
type hostID uint64

func hostOf(k weburl.Key) hostID { return hostID(binary.BigEndian.Uint64(k[:])) }

// hostCap is what a host's politeness leaves to revisits.
type hostCap struct {
	revisit.Ration
	name string    // of the host; empty: not known yet
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
	if r.store == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.jobs[job.ID]
	switch lives := a.livesSince(job); {
	case lives < 0: // a former life of the job, which was deleted: nothing of it counts for this one
		a = nil
	case lives > 0: // a later one has begun
		return nil, nil
	}
	if !job.Revisits() {
		a.rest(job)
		return nil, nil
	}
	if a == nil {
		a = &again{began: time.Now(), share: 1, hosts: map[hostID]*revisit.Host{}, caps: map[hostID]*hostCap{},
			learned: map[hostID]*habits{}}
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
	a.ration = revisit.NewRation(perDay*a.share, burst(perDay*a.share, r.calendar))
	a.counted = time.Time{}
	return a, nil
}

// livesSince is negative where a is of a former life of the job, and positive where it is of a later one.
func (a *again) livesSince(job *crawl.Job) int {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.job == nil {
		return 0
	}
	return cmp.Compare(crawl.EpochOf(a.job.First), crawl.EpochOf(job.First))
}

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
func (r *revisits) change(ctx context.Context, job crawl.JobID, urls []weburl.URL,
	each func(i int, s *revisit.State) bool) error {
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

// rest notes that a job visits its URLs once, by a revision.
func (a *again) rest(job *crawl.Job) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.job = job
}

func (a *again) continuous() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.job != nil && a.job.Revisits()
}

// taskOf is what the ledger keeps to visit the URL of an outcome again; nil: nothing. What was visited again stays so
// while its job visits URLs once: it may become continuous again.
func (r *revisits) taskOf(out *crawl.Outcome) *crawl.Task {
	if out.Verdict != crawl.VerdictDone || !visited(out) || out.Task.Visit == 0 && !r.visits(out.Task.Job) {
		return nil
	}
	return againTask(out.Task)
}
