package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A job may be revised while it runs. From the next lease on the frontier goes by the new revision: its delays, budgets
// and retries, and the epoch that the lease carries, by which whatever grows from it is handled. Nothing is drained and
// nothing queued anew. A task that was queued under an older revision is judged again when its turn comes (Deps.Judge),
// and concluded without a fetch where the new rules do not want it.
//
// A delay counts at once, be it longer or shorter: from the end of the last request. A rest that a host asked for is
// not shortened by it.

// Judge says why a job does not want a task that was queued under an older revision of it, and by which rule; empty: it
// does.
type Judge func(job *crawl.Job, t *crawl.Task) (reason, rule string, err error)

// SetJob makes a revision of a job the one that applies. Without it the frontier sees the revision when it next has to
// do with the job; with it hosts that wait need not wait in vain.
func (f *Frontier) SetJob(job *crawl.Job) {
	if _, err := f.book.Job(job); err != nil { // before the first outcome that is handled by it
		f.deps.Log.Warn("the pages of the job are visited once", "job", job.ID, "error", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if js := f.jobs.of(job.ID); js != nil && !f.succeeds(js, job) {
		f.setJob(js, job)
	}
}

// setJob lets everybody who waits reckon anew. mu is held.
func (f *Frontier) setJob(js *jobState, job *crawl.Job) {
	if js.job == job {
		return
	}
	if js.job.LearnsTopic() && job.TopicModel != "" {
		js.learned(f.stock.fronts.jobs(job.ID), f.hosts.active)
	}
	f.jobs.revise(js, job)
	now := time.Now()
	f.stock.retrieve(job.ID)
	f.hurryShutOf(job, now)
	f.bench.reckon(job.ID, ipDelay(job).D())
	f.hosts.each(func(h *host) { f.rejoin(h, nil, now) })
	f.bench.pacer.reset()
	f.signal()
}

// rejudge judges the choice's task, if an older revision let it in, or its host may be off the topic. One that has
// its outcome already is left to dropRepeats.
func (dp *dispatcher) rejudge(ctx context.Context, c *choice) error {
	if c.js == nil || len(c.host.buf) == 0 {
		return nil
	}
	task := &c.host.buf[0].Task
	dp.mu.Lock()
	job, discarded := c.js.job, c.js.discarded(task)
	dp.mu.Unlock()
	if discarded {
		return nil
	}
	c.judgedBy = job
	judged, err := dp.judge(ctx, job, task)
	if err != nil || judged == nil {
		return err
	}
	if task.Repeat {
		e, err := dp.lookup(ctx, task)
		if err != nil || e.State == crawl.StateDone {
			return err
		}
	}
	c.judged = judged
	return nil
}

// judge says why the job does not want a task by its revision, or because of its host; nil: it does.
func (dp *dispatcher) judge(ctx context.Context, job *crawl.Job, task *crawl.Task) (*dismissal, error) {
	if dp.deps.Judge != nil && task.JobEpoch() < crawl.EpochOf(job.Epoch) {
		reason, rule, err := dp.deps.Judge(job, task)
		if err != nil {
			return nil, fmt.Errorf("frontier: judge %s by revision %d of job %s: %w", task.URL, job.Epoch, job.ID, err)
		}
		if reason != "" {
			return &dismissal{crawl.VerdictExcluded, reason, rule}, nil
		}
	}
	return dp.tryHost(ctx, job, task)
}

// dismissalOf says why the choice's task is not to be fetched; nil: it is.
func (dp *dispatcher) dismissalOf(c *choice, task *crawl.Task, job *crawl.Job, now time.Time) *dismissal {
	if c.judged != nil {
		if dp.leases.of(task.ID()) == nil {
			task.Epoch = epochOf(job)
			return c.judged
		}
	}
	d := c.host.dismissal(task, job, now)
	if d != nil && dp.leases.of(task.ID()) == nil {
		task.Epoch = epochOf(job) // else it would be tried again by this revision: see hurryShut
	}
	return d
}

// epochOf is the epoch of a job as tasks carry it: none is the first.
func epochOf(job *crawl.Job) uint32 {
	if job.Epoch == 1 {
		return 0
	}
	return job.Epoch
}

// leftOut is what is kept of a task that was dismissed because the job does not want it; nil where it was concluded for
// another reason. Whatever budget it fell under was charged when it was claimed.
func leftOut(out *crawl.Outcome) *crawl.LeftOut {
	if out.Verdict != crawl.VerdictExcluded {
		return nil
	}
	t := out.Task
	t.Kind = kindOf(out)
	t.Repeat, t.Attempt, t.NotBefore, t.Paid = false, 0, time.Time{}, true
	return &crawl.LeftOut{Task: t, Reason: out.Reason, Rule: out.Detail, Dismissed: true}
}
