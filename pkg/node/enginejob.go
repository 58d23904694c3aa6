package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// engineJob is a job of an engine.
type engineJob struct {
	id   crawl.JobID
	turn sync.Mutex // held by who starts, stops, revises or discards it

	mu      sync.Mutex
	mark    jobMark
	feed    seedFeeds // none: it has only the seeds that it names, or does not run
	sweeper *sweeper
	revised chan struct{} // has one when a sweep may be due
	cancel  context.CancelFunc
	beside  *sync.WaitGroup // what runs for it; nil: nothing
	fault   error           // of its own: why it does not start

	// stdin is where a list of seeds comes from whose name is "-", and bad is told of lines that are no seeds.
	stdin io.Reader
	bad   func(line int, err error)

	began atomic.Int64 // ms since 1970
	bytes atomic.Int64 // that its attempts brought since then

	outs outputs

	answers recentAnswers
}

// jobMark is what is stored of a job besides its revisions.
type jobMark struct {
	Held    bool      `json:"held,omitempty"`
	Why     string    `json:"why,omitempty"` // of a hold that nobody asked for: what the job's pipeline says
	Stopped bool      `json:"stopped,omitempty"`
	Ended   bool      `json:"ended,omitempty"`
	EndedBy uint32    `json:"ended_by,omitempty"` // the epoch of the revision by which it ended; 0: not noted
	Started time.Time `json:"started,omitzero"`
}

// rests reports whether nothing of the job is to be leased.
func (m jobMark) rests() bool { return m.Held || m.Stopped || m.Ended }

func markName(id crawl.JobID) string { return "job " + string(id) }

// marked returns the job's mark.
func (j *engineJob) marked() jobMark {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.mark
}

// setMark stores and sets the job's mark, and has the frontier go by it.
func (e *Engine) setMark(ctx context.Context, j *engineJob, m jobMark) error {
	if e.store.Many() && m != j.marked() {
		data, err := json.Marshal(m)
		if err == nil {
			err = e.store.Meta().Put(ctx, markName(j.id), data)
		}
		if err != nil {
			return fmt.Errorf("job %q: %w", j.id, err)
		}
	}
	j.mu.Lock()
	j.mark = m
	j.mu.Unlock()
	e.frontier.Hold(j.id, m.rests())
	e.frontier.SetOver(j.id, m.Ended || m.Stopped)
	return nil
}

// loadJobs finds the jobs of the store.
func (e *Engine) loadJobs(ctx context.Context) error {
	for _, id := range e.store.Jobs().Known() {
		j := e.enter(id)
		data, found, err := e.store.Meta().Get(ctx, markName(id))
		if err == nil && found {
			err = json.Unmarshal(data, &j.mark)
		}
		if err != nil {
			return fmt.Errorf("job %q: %w", id, err)
		}
		j.outs.rest = j.mark.Ended // an end comes behind the last row
	}
	return nil
}

// holdJobs has the frontier hold the jobs that were stopped or held, or have ended.
func (e *Engine) holdJobs() {
	for id, j := range e.jobs {
		if j.mark.rests() {
			e.frontier.Hold(id, true)
		}
	}
}

// job returns a job; nil: there is none.
func (e *Engine) job(id crawl.JobID) *engineJob {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.jobs[id]
}

// everyJob returns all jobs, in no order.
func (e *Engine) everyJob() []*engineJob {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.jobs))
}

// enter returns a job, which is added where there is none.
func (e *Engine) enter(id crawl.JobID) *engineJob {
	e.mu.Lock()
	defer e.mu.Unlock()
	j := e.jobs[id]
	if j == nil {
		j = &engineJob{id: id, revised: make(chan struct{}, 1)}
		e.jobs[id] = j
	}
	return j
}

func (e *Engine) context() context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.running
}

// start lets a job run, if the engine does: it sends the seeds and begins to watch for its end. Its turn is held.
func (e *Engine) start(j *engineJob) error {
	running := e.context()
	if m := j.marked(); running == nil || m.Stopped || m.Ended {
		return nil
	}
	if j.runs() {
		return nil
	}
	job, err := e.store.Jobs().Job(running, j.id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(running)
	if err := e.seed(ctx, j, job); err != nil {
		cancel()
		return fmt.Errorf("job %q: %w", j.id, err)
	}
	if job.Revisits() { // nothing of it may be queued
		if err := e.frontier.Meet(ctx, j.id); err != nil {
			cancel()
			return fmt.Errorf("job %q: %w", j.id, err)
		}
	}
	beside := &sync.WaitGroup{}
	j.mu.Lock()
	j.sweeper = &sweeper{jobs: e.store.Jobs(), left: e.store.URLs(), look: e.store.URLs(), bus: e.bus, judge: e.judge,
		log: e.log}
	j.cancel, j.beside, j.fault = cancel, beside, nil
	j.mu.Unlock()
	j.outs.wake()
	j.began.Store(time.Now().UnixMilli())
	j.sweepSoon()
	beside.Go(func() { e.sweep(ctx, j) })
	beside.Go(func() { e.watch(ctx, j) })
	return nil
}

// seed hands out a job's seeds.
func (e *Engine) seed(ctx context.Context, j *engineJob, job *crawl.Job) error {
	if _, err := Seed(ctx, e.bus, e.store.URLs(), e.store.Hosts(), job); err != nil {
		return err
	}
	feeds, err := e.startFeeds(ctx, j, job, nil)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.feed = feeds
	return err
}

func (j *engineJob) setFault(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fault = err
}

// faulty says why the job does not go on; nil: it does.
func (j *engineJob) faulty() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.fault
}

// runs reports whether the goroutines of the job run.
func (j *engineJob) runs() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.beside != nil
}

// halt ends what runs for a job, and waits for it. What is under way of it goes on.
func (j *engineJob) halt() {
	j.mu.Lock()
	cancel, beside, feed := j.cancel, j.beside, j.feed
	j.cancel, j.beside = nil, nil
	j.mu.Unlock()
	if beside == nil {
		return
	}
	cancel()
	feed.end()
	beside.Wait()
}

// reading reports whether seeds of the job's list are still to come.
func (j *engineJob) reading() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.feed.reading()
}

func (j *engineJob) feeds() seedFeeds {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.feed
}

func (j *engineJob) sweepSoon() {
	select {
	case j.revised <- struct{}{}:
	default:
	}
}

// sweep lets in what revisions of the job let in, as they come, and has visited again what they have.
func (e *Engine) sweep(ctx context.Context, j *engineJob) {
	var retry <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-j.revised:
		case <-retry:
		}
		retry = nil
		if err := e.rememberPages(ctx, j.id); err != nil && ctx.Err() == nil {
			e.log.Warn("pages that were fetched before the job was continuous are not visited again yet; trying again", "job",
				j.id, "error", err)
			retry = time.After(sweepLook)
		}
		if err := j.sweeper.pass(ctx, j.id); err != nil && ctx.Err() == nil {
			e.log.Error("URLs that were left out may have to wait for the end of the crawl", "job", j.id, "error", err)
		}
	}
}
