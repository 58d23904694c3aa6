package frontier

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A job that learns its topic from its first pages queues their links before it has a model. Their tasks carry the
// links' texts; when the model is there, they go to the queues of what these promise. A program that ends meanwhile
// leaves the rest where they are: they are drawn as tasks of which nothing is known.

// Promise says how much a task promises by the text of its link; unknown where that says nothing.
type Promise func(job *crawl.Job, t *crawl.Task) (crawl.Relevance, error)

// scoring is what is left to be scored of a job's front queues.
type scoring struct {
	left [crawl.MaxPriority + 1]int64 // tasks, by the queue's number
	host bool                         // what hosts hold as well
	back []*host                      // those whose back queues are to be emptied
}

// learned notes that a job has a model which it had not before. mu is held.
func (js *jobState) learned(front *jobFronts, active map[string]*host) {
	js.scoring = &scoring{host: true}
	for _, h := range active {
		if l := h.hasLane(js.job.ID); l != nil && l.backlog > 0 {
			js.scoring.back = append(js.scoring.back, h)
		}
	}
	copy(js.scoring.left[crawl.MinPriority:], front.lengths[crawl.MinPriority:crawl.MaxPriority+1])
}

// rescore scores a batch of tasks that were queued before their job had a model. It reports whether it did anything.
func (dp *dispatcher) rescore(ctx context.Context, _ time.Time) (bool, error) {
	dp.mu.Lock()
	var js *jobState
	for _, of := range dp.jobs.byID {
		if of.scoring != nil && !dp.paused {
			js = of
		}
	}
	if js == nil {
		dp.mu.Unlock()
		return false, nil
	}
	s, job := js.scoring, js.job
	front := dp.stock.fronts.jobs(job.ID)
	number := 0
	for n, left := range s.left {
		if left > 0 {
			number = n
		}
	}
	done := number == 0 && len(s.back) == 0 || js.dead
	if done {
		js.scoring = nil
	}
	var err error
	if s.host {
		s.host = false
		err = dp.scoreHosts(job)
	}
	dp.mu.Unlock()
	switch {
	case err != nil || done:
		return false, err
	case number == 0:
		return true, dp.scoreBack(ctx, job.ID, s)
	case dp.looks.in(front.queue(number)):
		return false, nil
	}
	return true, dp.scoreFront(ctx, front, number, s)
}

// scoreBack moves a batch of the tasks in the first host's back queue to the front queues.
func (dp *dispatcher) scoreBack(ctx context.Context, job crawl.JobID, s *scoring) error {
	h := s.back[0]
	l := h.hasLane(job)
	if l == nil || l.queue == "" || l.backlog <= 0 || dp.looks.in(l.queue) {
		s.back = s.back[1:]
		return nil
	}
	ds, err := dp.pull(ctx, l.queue, dp.cfg.Batch)
	if err != nil {
		return fmt.Errorf("frontier: back queue of host %s: %w", h.rec.Key, err)
	}
	dp.mu.Lock()
	for i := range ds {
		if ds[i].Task.Job == job && ds[i].Task.URL.HostKey() == h.rec.Key {
			l.backlog--
		}
	}
	if len(ds) == 0 {
		dp.stock.short(l.queue, l.backlog)
	}
	if len(ds) == 0 || l.backlog < 0 {
		l.backlog = 0
	}
	dp.mu.Unlock()
	return dp.queueAnew(ctx, ds)
}

// scoreHosts scores what hosts hold of a job. mu is held.
func (dp *dispatcher) scoreHosts(job *crawl.Job) error {
	for _, h := range dp.hosts.active {
		l := h.hasLane(job.ID)
		if l == nil {
			continue
		}
		for i := range l.buf {
			if err := dp.score(job, &l.buf[i].Task); err != nil {
				return err
			}
		}
		l.sort()
	}
	return nil
}

// scoreFront queues a batch of tasks of a front queue anew: they are scored then.
func (dp *dispatcher) scoreFront(ctx context.Context, front *jobFronts, number int, s *scoring) error {
	ds, err := dp.pullFront(ctx, drawing{front: front, number: number})
	if err != nil {
		return err
	}
	if s.left[number] -= int64(len(ds)); len(ds) == 0 {
		s.left[number] = 0
	}
	return dp.queueAnew(ctx, ds)
}

// scored are tasks that are to be queued, those of them scored that were found before their job had a model.
func (f *Frontier) scored(tasks []crawl.Task) ([]crawl.Task, error) {
	if !slices.ContainsFunc(tasks, func(t crawl.Task) bool { return t.Text != "" }) {
		return tasks, nil
	}
	tasks = slices.Clone(tasks) // they are parts of a message
	for i := range tasks {
		f.mu.Lock()
		js := f.jobs.of(tasks[i].Job)
		f.mu.Unlock()
		if js == nil {
			continue
		}
		if job := f.jobNow(js); !job.LearnsTopic() {
			if err := f.score(job, &tasks[i]); err != nil {
				return nil, err
			}
		}
	}
	return tasks, nil
}

// score notes how much a task promises by the text of its link, which is not needed any more.
func (f *Frontier) score(job *crawl.Job, t *crawl.Task) error {
	if t.Text == "" || f.deps.Promise == nil {
		return nil
	}
	p, err := f.deps.Promise(job, t)
	if err != nil {
		return fmt.Errorf("frontier: what %s promises: %w", t.URL, err)
	}
	t.Promise, t.Text = max(t.Promise, p), ""
	return nil
}
