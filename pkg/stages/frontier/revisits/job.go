package revisits

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Job is how a job's pages are visited again. Its methods may be called by several goroutines at once.
type Job struct {
	book *Book
	id   crawl.JobID

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

// leastTau is a threshold of nearly nothing: where there are more visits than pages want, each is due when it may be.
const leastTau = 1e-6

func newJob(b *Book, id crawl.JobID) *Job {
	return &Job{book: b, id: id, began: time.Now(), share: 1, hosts: map[hostID]*revisit.Host{},
		caps: map[hostID]*hostCap{}, learned: map[hostID]*habits{}}
}

// revise goes on by another revision of the job, if it is another.
func (j *Job) revise(job *crawl.Job) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.job == job {
		return nil
	}
	weight, err := job.Revisit.WeightOf()
	if err != nil {
		return crawl.Permanent(fmt.Errorf("frontier: job %s: %w", job.ID, err))
	}
	set := job.Revisit.Filled()
	perDay := float64(set.Budget)
	j.job, j.weight, j.policy = job, weight, job.Revisit.Policy()
	j.plan.PerDay, j.plan.Most = perDay, set.MaxAge.D()
	j.ration = revisit.NewRation(perDay*j.share, burst(perDay*j.share, j.calendar()))
	j.counted = time.Time{}
	return nil
}

// livesSince is negative where j is of a former life of the job, and positive where it is of a later one.
func (j *Job) livesSince(job *crawl.Job) int {
	if j == nil {
		return 0
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.job == nil {
		return 0
	}
	return cmp.Compare(crawl.EpochOf(j.job.First), crawl.EpochOf(job.First))
}

// rest notes that a job visits its URLs once, by a revision.
func (j *Job) rest(job *crawl.Job) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.job = job
}

func (j *Job) continuous() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.job != nil && j.job.Revisits()
}

// Revision is the job as the pages are visited by it.
func (j *Job) Revision() *crawl.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.job
}

func (j *Job) calendar() revisit.Calendar { return j.book.cfg.Calendar }
