package frontier

import (
	"math/rand/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// fronts counts the tasks in the front queues. Jobs have queues of their own, from which draws take in turn, so that
// the tasks of a small job do not wait behind those of a large one. The queues that name no job are those of the job
// that came first.
type fronts struct {
	all   []*jobFronts
	owner crawl.JobID // of the queues without a job
	next  int         // whose turn it is to be drawn from
}

// jobFronts counts the tasks in a job's front queues that were not drawn.
type jobFronts struct {
	job     crawl.JobID // empty: the queues without a job
	lengths [crawl.MaxPriority + 1]int64
	more    [crawl.MaxPriority + 1]bool // the queue is to be looked into, whatever its length
}

// asideQueue holds tasks that were set aside, whatever their job; a restart draws them again.
const asideQueue = "front.0"

func (j *jobFronts) queue(priority int) string {
	if j.job == "" {
		return crawl.QueueName{Kind: crawl.QueueFront, Number: priority}.String()
	}
	return crawl.QueueName{Kind: crawl.QueueFront, Number: priority, Job: j.job}.String()
}

// of returns the queues that name the job.
func (f *fronts) of(job crawl.JobID) *jobFronts {
	for _, j := range f.all {
		if j.job == job {
			return j
		}
	}
	j := &jobFronts{job: job}
	f.all = append(f.all, j)
	return j
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

// add counts a task that was queued.
func (f *fronts) add(q *crawl.Queued) { f.jobs(q.Task.Job).lengths[q.Task.Priority]++ }

// pick chooses the job whose turn it is among those that have tasks, and one of its queues; nil: all are empty.
func (f *fronts) pick(random *rand.Rand) (*jobFronts, int) {
	for i := range f.all {
		at := (f.next + i) % len(f.all)
		waiting := f.all[at].waiting()
		if p := pickFront(random, waiting[:]); p >= 0 {
			f.next = at + 1
			return f.all[at], p
		}
	}
	return nil, -1
}
