package node

import (
	"context"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
)

// JobState is what an engine knows of a job.
type JobState struct {
	Job      *crawl.Job // as it is now
	Ended    bool
	Revised  bool // since it ended
	Held     bool
	HeldBy   string // of a hold that nobody asked for: why
	Stopped  bool
	InFlight int   // leases, and messages on their way
	Queued   int64 // URLs that wait
	Pages    int64
	Letters  int64
	Bound    string    // the bound that is met; empty: none
	Fault    string    // what it cannot get over; empty: nothing
	Started  time.Time // when it was first submitted
	Since    time.Time // when this process began with it; zero: it did not
}

// State returns what is known of a job; found is false where the store does not hold it. It reads no disk.
func (e *Engine) State(ctx context.Context, id crawl.JobID) (s JobState, found bool, err error) {
	j := e.job(id)
	if j == nil {
		return s, false, nil
	}
	if s.Job, err = e.store.Jobs().Job(ctx, id); err != nil {
		if crawl.IsPermanent(err) { // it is being submitted
			return s, false, nil
		}
		return s, false, err
	}
	tally, err := e.store.URLs().Tally(ctx, id)
	if err != nil {
		return s, false, err
	}
	m, leases := j.marked(), e.frontier.JobStats(id).InFlight
	s.Ended, s.Held, s.HeldBy, s.Stopped, s.Started = m.Ended, m.Held, m.Why, m.Stopped, m.Started
	s.Revised = m.Ended && m.EndedBy > 0 && crawl.EpochOf(s.Job.Epoch) > m.EndedBy
	s.InFlight = max(leases, int(e.bus.OutstandingOf(id)))
	s.Pages, s.Queued = tally.Pages, tally.Claimed-int64(leases)
	for _, n := range tally.Verdicts {
		s.Queued -= n
	}
	s.Queued = max(s.Queued, 0)
	s.Letters, s.Bound = e.letters.of(id), e.frontier.Bound(id)
	if ms := j.began.Load(); ms > 0 {
		s.Since = time.UnixMilli(ms).UTC()
	}
	if err := errors.Join(e.store.JobFault(id), j.faulty()); err != nil {
		s.Fault = err.Error()
	}
	return s, true, nil
}

// Known returns the jobs of the engine.
func (e *Engine) Known() []crawl.JobID { return e.store.Jobs().Known() }

// Braked says what holds all jobs: "disk", or "pause" by a user's wish; empty: nothing.
func (e *Engine) Braked() string {
	e.brake.mu.Lock()
	defer e.brake.mu.Unlock()
	switch {
	case e.brake.disk:
		return "disk"
	case e.brake.user:
		return "pause"
	}
	return ""
}

// JobDir is the directory of a job's pages.jsonl, crawl.log, bodies and warc.
func (e *Engine) JobDir(id crawl.JobID) string { return e.store.JobDir(id) }

// InFlight returns the tasks of a job that are leased.
func (e *Engine) InFlight(id crawl.JobID) []crawl.Task { return e.frontier.Leased(id) }

// Queued returns up to limit of the job's queued tasks, in an order that holds between calls, and where to go on; "":
// there are no more. It looks at a bounded number of tasks of all jobs: fewer than limit need not be the last.
func (e *Engine) Queued(ctx context.Context, id crawl.JobID, after string,
	limit int) (tasks []crawl.Task, next string, err error) {
	if j := e.job(id); j == nil || j.marked().Ended { // most executions: they need not be looked for among others' tasks
		if s, _, err := e.State(ctx, id); err != nil || s.Queued == 0 {
			return nil, "", err
		}
	}
	return e.store.Queues().TasksOf(ctx, id, after, limit)
}

// HostNow is a host as the frontier sees it.
type HostNow = frontier.HostNow

// Hosts returns the hosts on the workbench that have tasks or leases: of a job, or of all where id is empty.
func (e *Engine) Hosts(id crawl.JobID) []HostNow { return e.frontier.Hosts(id) }

// CountHosts counts those hosts, which is cheaper than to list them.
func (e *Engine) CountHosts(id crawl.JobID) frontier.HostCounts { return e.frontier.CountHosts(id) }

// Depths is how many messages wait in each topic of the bus.
func (e *Engine) Depths() map[string]int {
	out := map[string]int{}
	for _, name := range crawl.TopicNames(func(crawl.Topic) bool { return true }) {
		out[name] = e.bus.Depth(name)
	}
	return out
}

// Freshness is how fresh the pages of a continuous job are, as they were counted last, and the time by which they are
// visited again. running says that the job is crawled; figures are nil where they were not counted yet.
func (e *Engine) Freshness(id crawl.JobID) (figures *crawl.FreshnessDetail, running bool, now time.Time) {
	now = e.opt.Node.Frontier.Calendar.At(time.Now())
	j := e.job(id)
	running = j != nil && j.runs()
	if d, ok := e.frontier.FreshnessDetail(id); ok {
		figures = &d
	}
	return figures, running, now
}
