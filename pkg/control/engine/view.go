package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

// view answers questions about one of many jobs.
type view struct {
	*report.Crawl
	e  *Engine
	id crawl.JobID
}

// View answers questions about a job: its status, the story of a URL, its dead letters, its audit.
//
//nolint:contextcheck // the view lasts longer than the call
func (e *Engine) View(ctx context.Context, id crawl.JobID) (report.View, error) {
	s, known, err := e.State(ctx, id)
	if err == nil && !known {
		err = crawl.Permanent(fmt.Errorf("job %q: the engine does not know it", id))
	}
	if err != nil {
		return nil, err
	}
	store := e.Store()
	pages, err := store.JobPages(ctx, id)
	if err != nil {
		return nil, err
	}
	log, err := store.JobLog(ctx, id)
	if err != nil {
		return nil, err
	}
	var lines crawl.LogList = log
	if e.lines != nil {
		lines = indexedLog{log, e.lines}
	}
	src := report.Sources{Dir: e.JobDir(id), Job: s.Job, Jobs: store.Jobs(), Left: store.URLs(), Ledger: store.URLs(),
		Hosts: store.Hosts(), Robots: store.Hosts(), Log: lines, Queues: lengths{e, id}, Pages: pages,
		Journal: journal{store.Journal(), id}, Dead: letters{store.DeadLetters(), id}, Auditor: auditor{store, id},
		Templates: store.RenderStats(), Spending: store.Spending()}
	if !s.Ended && !s.Stopped {
		src.Live = func() report.Moment { return e.moment(id) }
	}
	c, err := report.New(src)
	if err != nil {
		return nil, err
	}
	return &view{c, e, id}, nil
}

// moment is what only the running engine knows of a job.
func (e *Engine) moment(id crawl.JobID) report.Moment {
	s, _, err := e.State(context.Background(), id)
	if err != nil {
		return report.Moment{}
	}
	hosts := e.CountHosts(id)
	f := report.FrontierState{Queued: s.Queued, InFlight: s.InFlight, ActiveHosts: hosts.Active, NextDue: hosts.Due}
	return report.Moment{Frontier: f, Paused: s.Held || e.Braked() != "", Why: cmp.Or(e.PausedFor(), s.HeldBy),
		Started: s.Since}
}

// Status implements report.View. The engine knows the state of its jobs itself.
func (v *view) Status(ctx context.Context) (*report.Status, error) {
	st, err := v.Crawl.Status(ctx)
	if err != nil {
		return nil, err
	}
	s, known, err := v.e.State(ctx, v.id)
	if err != nil || !known {
		return st, err
	}
	st.Queued, st.InFlight, st.DeadLetters, st.State = s.Queued, int64(s.InFlight), s.Letters, stateOf(&s, v.e.Braked())
	if st.State != report.StatePaused {
		st.PausedFor = ""
	}
	return st, nil
}

func stateOf(s *node.JobState, braked string) report.State {
	switch {
	case s.Ended:
		return report.StateFinished
	case s.Stopped:
		return report.StateStopped
	case s.Held || braked != "":
		return report.StatePaused
	}
	return report.StateRunning
}

// lengths tell of the queues of one job as if they were one.
type lengths struct {
	e  *Engine
	id crawl.JobID
}

// Lengths implements report.Lengths.
func (l lengths) Lengths(ctx context.Context) (map[string]int64, error) {
	s, _, err := l.e.State(ctx, l.id)
	if err != nil || s.Queued == 0 {
		return nil, err
	}
	name := crawl.QueueName{Kind: crawl.QueueFront, Number: crawl.DefaultPriority, Job: l.id}.String()
	return map[string]int64{name: s.Queued}, nil
}

// journal is the part of a journal that is of one job.
type journal struct {
	*local.Journal
	id crawl.JobID
}

// Load implements report.Journal.
func (j journal) Load(ctx context.Context, yield func(seq uint64, m bus.Message) error) error {
	return j.Journal.Load(ctx, func(seq uint64, m bus.Message) error {
		if crawl.JobOf(m.Event) != j.id {
			return nil
		}
		return yield(seq, m)
	})
}

// letters are the dead letters of one job. Those that cannot be read are nobody's.
type letters struct {
	local.DeadLetters
	id crawl.JobID
}

// List implements report.DeadLetters.
func (l letters) List(ctx context.Context, yield func(bus.DeadLetter) error) error {
	return l.ListReadable(ctx, func(d bus.DeadLetter) error {
		if crawl.JobOf(d.Message.Event) != l.id {
			return nil
		}
		return yield(d)
	})
}

// Count implements report.DeadLetters.
func (l letters) Count(ctx context.Context) (n int64, err error) {
	err = l.List(ctx, func(bus.DeadLetter) error { n++; return nil })
	return n, err
}

// auditor audits one job.
type auditor struct {
	store *local.Store
	id    crawl.JobID
}

// Audit implements report.Auditor.
func (a auditor) Audit(ctx context.Context) (crawl.AuditReport, error) {
	return a.store.AuditJob(ctx, a.id)
}
