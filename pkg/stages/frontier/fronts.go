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
	job     crawl.JobID               // empty: the queues without a job
	lengths [crawl.MaxFront + 1]int64 // by the numbers of the queues
	more    [crawl.MaxFront + 1]bool  // the queue is to be looked into, whatever its length
	// levelled says that tasks lay in queues of levels of promise: only then are these looked into.
	levelled bool
	// aside counts the tasks in its front.0: they were set aside because the job may not lease them. They are drawn again
	// when it may, or by a restart.
	aside int64
	sides
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
	only = j.lengths == [crawl.MaxFront + 1]int64{}
	number := q.Task.FrontNumber()
	j.lengths[number]++
	j.queuedAgain(&q.Task)
	j.levelled = j.levelled || number > crawl.MaxPriority
	return only
}

// pick chooses the job whose turn it is among those that have tasks and are not to be passed over, and one of its
// queues; nil: there is none. Tasks that were set aside because their job is unknown are in the queues without one.
func (f *fronts) pick(random *rand.Rand, pass func(*jobFronts) bool,
	topical func(crawl.JobID) (order topicalOrder, is bool)) (d drawing) {
	for i := range f.all {
		at := (f.next + i) % len(f.all)
		j := f.all[at]
		if pass(j) {
			continue
		}
		waiting := j.waiting()
		d = drawing{front: j, number: -1}
		order, is := topical(f.jobOf(j))
		d.topical = is
		if !is || order.learns {
			d.number = j.pick(random, waiting[:crawl.MaxPriority+1])
		}
		if d.number < 0 { // of a job that has no topic any more, or is not known yet, what promises something is the rest
			d.number, d.best = pickTopical(random, waiting[:], order.explore)
		}
		if d.number >= 0 {
			f.next = at + 1
			return d
		}
	}
	return drawing{}
}

// drawing is the front queue from which a batch is drawn.
type drawing struct {
	front   *jobFronts // nil: none
	number  int
	topical bool // of a topical job: the best, or to explore another
	best    int  // of those; 0: not asked for
}
