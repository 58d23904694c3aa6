package frontier

import (
	"math/rand/v2"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// fronts counts the tasks in the front queues. Jobs have queues of their own, from which draws take in turn, so that
// the tasks of a small job do not wait behind those of a large one. The queues that name no job are those of the job
// that came first.
type fronts struct {
	all   []*jobFronts
	by    map[crawl.JobID]*jobFronts
	owner crawl.JobID // of the queues without a job
	next  int         // whose turn it is to be drawn from
}

// jobFronts counts the tasks in a job's front queues that were not drawn.
type jobFronts struct {
	job     crawl.JobID // empty: the queues without a job
	lengths [crawl.MaxPriority + 1]int64
	more    [crawl.MaxPriority + 1]bool // the queue is to be looked into, whatever its length
	// aside counts the tasks in its front.0: they were set aside because the job may not lease them. They are drawn again
	// when it may, or by a restart.
	aside int64
}

// asideQueue holds tasks that were set aside because their job is unknown; a restart draws them again.
const asideQueue = "front.0"

func (j *jobFronts) queue(priority int) string {
	if j.job == "" {
		return crawl.QueueName{Kind: crawl.QueueFront, Number: priority}.String()
	}
	return crawl.QueueName{Kind: crawl.QueueFront, Number: priority, Job: j.job}.String()
}

// of returns the queues that name the job.
func (f *fronts) of(job crawl.JobID) *jobFronts {
	if j := f.by[job]; j != nil {
		return j
	}
	if f.by == nil {
		f.by = map[crawl.JobID]*jobFronts{}
	}
	j := &jobFronts{job: job}
	f.by[job], f.all = j, append(f.all, j)
	return j
}

// forget forgets a job of whose tasks none is in front queues.
func (f *fronts) forget(job crawl.JobID) {
	j := f.by[job]
	if j == nil || j.aside > 0 {
		return
	}
	for p, n := range j.lengths {
		if n > 0 || j.more[p] {
			return
		}
	}
	delete(f.by, job)
	f.all = slices.DeleteFunc(f.all, func(o *jobFronts) bool { return o == j })
}

// jobOf is the job whose queues they are.
func (f *fronts) jobOf(j *jobFronts) crawl.JobID {
	if j.job == "" {
		return f.owner
	}
	return j.job
}

// jobs returns the queues that new tasks of the job go to.
func (f *fronts) jobs(job crawl.JobID) *jobFronts {
	if f.owner == "" {
		f.owner = job
	}
	if f.owner == job {
		job = ""
	}
	return f.of(job)
}

// add counts a task that was queued, and reports whether it is the only one of its job there.
func (f *fronts) add(q *crawl.Queued) (only bool) {
	j := f.jobs(q.Task.Job)
	only = j.lengths == [crawl.MaxPriority + 1]int64{}
	j.lengths[q.Task.Priority]++
	return only
}

// pick chooses the job whose turn it is among those that have tasks and are not to be passed over, and one of its
// queues; nil: there is none. Tasks that were set aside because their job is unknown are in the queues without one.
func (f *fronts) pick(random *rand.Rand, pass func(crawl.JobID) bool, topical func(crawl.JobID) (explore float64, is bool)) (*jobFronts, int) {
	for i := range f.all {
		at := (f.next + i) % len(f.all)
		if pass(f.jobOf(f.all[at])) {
			continue
		}
		waiting := f.all[at].waiting()
		p := pickFront(random, waiting[:])
		if explore, is := topical(f.jobOf(f.all[at])); is {
			p = pickTopical(random, waiting[:], explore)
		}
		if p >= 0 {
			f.next = at + 1
			return f.all[at], p
		}
	}
	return nil, -1
}
