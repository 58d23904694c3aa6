package frontier

import (
	"math"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// jobs are the jobs that the frontier has met, with what they spend. Frontier.mu guards it.
type jobs struct {
	byID   map[crawl.JobID]*jobState
	holds  map[crawl.JobID]bool // jobs that are held, whether they were met or not
	limits *jobLimits           // nil: a job came, went or was revised since they were last reckoned
}

// jobState counts what a job spends.
type jobState struct {
	job     *crawl.Job // the revision that applies; jobs.revise changes it
	pages   int        // answered with 2xx
	added   int64      // to pages, ever, since the job was met
	leased  int        // page leases under way
	leases  int64      // ever, since the job was met
	places  places     // of pages that were taken back
	held    bool       // nothing of it is leased: see Hold
	dead    bool       // it was deleted
	blocked []*host    // hosts whose next task waits for room in the budget
	pace    pace
	best    best
	scoring *scoring    // what is left to be scored; nil: nothing
	spent   crawl.Spent // of the job's bounds, by all nodes
	bound   string      // the bound that is met by it; empty: none
	counted time.Time   // when spent was last counted
	over    bool        // the job has ended
}

func newJobs() jobs {
	return jobs{byID: map[crawl.JobID]*jobState{}, holds: map[crawl.JobID]bool{}}
}

// of returns the state of a job; nil: the job was not met yet.
func (j *jobs) of(id crawl.JobID) *jobState { return j.byID[id] }

// meet adds a job that is met for the first time, unless another goroutine has added it meanwhile.
func (j *jobs) meet(id crawl.JobID, js *jobState) *jobState {
	if known := j.byID[id]; known != nil {
		return known
	}
	js.held = !js.dead && j.holds[id]
	j.byID[id], j.limits = js, nil
	return js
}

// forget ends the life of a job: the next one of its id is another.
func (j *jobs) forget(js *jobState) {
	js.dead = true
	delete(j.byID, js.job.ID)
	j.limits = nil
}

// revise makes a revision the one that applies.
func (j *jobs) revise(js *jobState, job *crawl.Job) {
	js.job, j.limits = job, nil
	js.bound = job.Bounds.Met(js.spent)
	js.pace.revised()
}

// hold keeps a job's tasks from being leased, or lets them go on, and reports whether that is a change.
func (j *jobs) hold(id crawl.JobID, held bool) (changed bool) {
	if j.holds[id] == held {
		return false
	}
	j.holds[id] = held
	if js := j.byID[id]; js != nil {
		js.held = held
	}
	return true
}

// stays reports whether the tasks of a job stay in its front queues: it is held. Drawn, they would be set aside.
func (j *jobs) stays(id crawl.JobID) bool {
	js := j.byID[id]
	return j.holds[id] && (js == nil || !js.dead)
}

// spent reports whether the job's pages wait for its budget, or for the job to go on.
func (j *jobs) spent(id crawl.JobID) bool {
	js := j.byID[id]
	return js != nil && js.full()
}

// keepsPlace reports whether a page keeps its place in the budget.
func (j *jobs) keepsPlace(t *crawl.Task) bool {
	js := j.byID[t.Job]
	return js != nil && js.places.has(t)
}

// jobLimits are the extremes over all jobs. Every outcome asks for them, and jobs may be many.
type jobLimits struct {
	connections int           // the most leases that a job allows a host at once
	heeding     time.Duration // the shortest delay of the jobs that heed robots.txt
	ignoring    time.Duration // the shortest delay of those that do not
}

func (j *jobs) extremes() *jobLimits {
	if j.limits != nil {
		return j.limits
	}
	l := &jobLimits{heeding: math.MaxInt64, ignoring: math.MaxInt64}
	for _, js := range j.byID {
		l.connections = max(l.connections, js.job.Politeness.HostConnections)
		if delay := js.job.Politeness.Delay.D(); js.job.IgnoreRobots {
			l.ignoring = min(l.ignoring, delay)
		} else {
			l.heeding = min(l.heeding, delay)
		}
	}
	j.limits = l
	return l
}

// connections is how many leases a host may have at once, by the job that allows most.
func (j *jobs) connections() int { return j.extremes().connections }

// leastGap is the shortest rest that any job gives the host.
func (j *jobs) leastGap(h *host) time.Duration {
	l := j.extremes()
	least := min(max(l.heeding, h.longestCrawlDelay(false)), l.ignoring)
	if least == math.MaxInt64 { // there is no job
		return least
	}
	return h.times(least)
}

// room is how many pages may be leased besides those under way, which may all become pages.
func (js *jobState) room() int {
	if (js.held || js.bound != "") && !js.dead {
		return 0
	}
	if js.job.MaxPages <= 0 || js.dead {
		return math.MaxInt
	}
	return max(js.job.MaxPages-js.pages-js.leased-js.places.waiting(), 0)
}

// full reports whether no further page may be leased.
func (js *jobState) full() bool { return js.room() == 0 }

// exhausted reports whether the budget is spent and none of the job's pages is under way.
func (js *jobState) exhausted() bool { return js.full() && js.leased == 0 && js.places.waiting() == 0 }

// keeps reports whether a task must wait for the job's budget, or for the job to go on. Sitemaps and robots.txt files
// wait as well: a budget that is spent needs no more of them. A page that was taken back has its place. Assets and
// resources are those of pages that were fetched: they have budgets of their own, but the job's time and bytes are
// theirs too.
func (js *jobState) keeps(t *crawl.Task) bool {
	if t.Kind == crawl.KindAsset || t.Kind == crawl.KindResource || t.Visit > 0 { // or its page has its place
		return (js.held || js.bound != "") && !js.dead
	}
	return js.full() && (js.held || !js.places.has(t))
}

// discarded reports whether a task belongs to a job that was deleted, or to a former life of it.
func (js *jobState) discarded(t *crawl.Task) bool {
	return js.dead || t.JobEpoch() < js.job.First
}

// block keeps a host until the job's page budget may have room again.
func (js *jobState) block(h *host) {
	if !h.blocked {
		h.blocked = true
		js.blocked = append(js.blocked, h)
	}
}

// unblock returns the host that was blocked last, which is not any more.
func (js *jobState) unblock() *host {
	last := len(js.blocked) - 1
	h := js.blocked[last]
	js.blocked = js.blocked[:last]
	h.blocked = false
	return h
}

// unblockAll releases all hosts that wait for the job: for its budget, its pace or better pages.
func (js *jobState) unblockAll() {
	for _, h := range js.blocked {
		h.blocked = false
	}
	js.blocked = nil
	js.pace.releaseAll()
	js.best.releaseAll()
}

// deadJob stands for a job that was deleted and of which nothing is known any more: its hosts keep their clocks.
func deadJob(id crawl.JobID) *jobState {
	job := crawl.DefaultJob()
	job.ID = id
	return &jobState{job: &job, dead: true}
}

// places are the pages of a job that were taken back and keep their places in its budget: see placeKeeper.
type places struct {
	kept   map[weburl.Key]bool
	leased int // of them, those whose leases are under way: they count there
}

// waiting is how many places are kept besides those of leases.
func (p *places) waiting() int { return max(len(p.kept)-p.leased, 0) }

func (p *places) has(t *crawl.Task) bool {
	return len(p.kept) > 0 && t.Kind == crawl.KindPage && p.kept[t.URL.Key()]
}

func (p *places) add(k weburl.Key) {
	if p.kept == nil {
		p.kept = map[weburl.Key]bool{}
	}
	p.kept[k] = true
}
