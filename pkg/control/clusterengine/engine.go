// Package clusterengine is the engine of a cluster as the conductor, the API and the explorer see it: the nodes crawl,
// and this package reaches them through the stores and brokers that pkg/control/cluster knows.
package clusterengine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Engine crawls jobs on the nodes of a cluster. Several programs may have one of the same cluster.
type Engine struct {
	*cluster.Cluster
	dir string // of the mirrors
	log *slog.Logger
	now func() time.Time
	// list lists the dead letters of a job.
	list func(ctx context.Context, id crawl.JobID) ([]report.Letter, error)

	mu      sync.Mutex
	quiet   map[crawl.JobID]*quiet
	letters map[crawl.JobID]*letters
	waits   map[crawl.JobID]waits
	mirrors map[crawl.JobID]*mirror
}

var _ workflow.Engine = (*Engine)(nil)

// New returns the engine of a cluster. dir is for what it copies of executions to answer quickly: see Mirror.
func New(c *cluster.Cluster, dir string, log *slog.Logger) *Engine {
	return &Engine{Cluster: c, dir: dir, log: log, now: time.Now, list: c.Letters, quiet: map[crawl.JobID]*quiet{},
		letters: map[crawl.JobID]*letters{}, waits: map[crawl.JobID]waits{}, mirrors: map[crawl.JobID]*mirror{}}
}

// Submit implements workflow.Engine. What the cluster refuses, it refuses for ever.
func (e *Engine) Submit(ctx context.Context, job *crawl.Job) error {
	_, err := e.Cluster.Submit(ctx, control.Submission{Job: job})
	if misuse := (*control.Misuse)(nil); errors.As(err, &misuse) {
		return crawl.Permanent(err)
	}
	if err != nil {
		return err
	}
	return e.let(ctx, job.ID, crawl.JobRunning, crawl.JobStopped, crawl.JobPaused, crawl.JobEnded)
}

// Hold implements workflow.Engine.
func (e *Engine) Hold(ctx context.Context, id crawl.JobID, held bool) error {
	if held {
		return e.let(ctx, id, crawl.JobPaused, crawl.JobRunning)
	}
	return e.let(ctx, id, crawl.JobRunning, crawl.JobPaused)
}

// Stop implements workflow.Engine.
func (e *Engine) Stop(ctx context.Context, id crawl.JobID) error {
	return e.let(ctx, id, crawl.JobStopped, crawl.JobRunning, crawl.JobPaused)
}

// GoOn lets a job run that had ended, if a revision of it may let in more: as the nodes do by themselves, but at once.
// It reports whether a revision does.
func (e *Engine) GoOn(ctx context.Context, id crawl.JobID) (bool, error) {
	sweep, err := e.Postgres.Jobs().Sweep(ctx, id)
	if err != nil || !sweep.Due() {
		return false, err
	}
	return true, e.let(ctx, id, crawl.JobRunning, crawl.JobEnded)
}

// let gives a job a state, where it is in one of some others. The frontiers look for it every two seconds.
func (e *Engine) let(ctx context.Context, id crawl.JobID, to crawl.JobState, from ...crawl.JobState) error {
	info, known, err := e.info(ctx, id)
	if err != nil || !known {
		return err
	}
	if !slices.Contains(from, info.State) {
		return nil
	}
	e.mu.Lock()
	delete(e.quiet, id)
	e.mu.Unlock()
	_, err = e.Postgres.Jobs().Turn(ctx, id, 0, to, from...)
	return err
}

// info is what the cluster knows of a job.
func (e *Engine) info(ctx context.Context, id crawl.JobID) (info crawl.JobInfo, known bool, err error) {
	info, err = e.Postgres.Jobs().Info(ctx, id)
	if err != nil && info.ID == "" && crawl.IsPermanent(err) {
		return info, false, nil
	}
	return info, err == nil && info.Deleted.IsZero() && info.Job != nil, err
}

// Job returns a job as it was last revised; nil: the cluster does not know it.
func (e *Engine) Job(ctx context.Context, id crawl.JobID) (*crawl.Job, error) {
	info, known, err := e.info(ctx, id)
	if err != nil || !known {
		return nil, err
	}
	return info.Job, nil
}

// Discard implements workflow.Engine. The records of a job cannot be read without what the database has of it, so
// keepRecords keeps all.
func (e *Engine) Discard(ctx context.Context, id crawl.JobID, keepRecords bool) error {
	e.forget(id)
	if keepRecords {
		return nil
	}
	info, err := e.Postgres.Jobs().Info(ctx, id)
	if err != nil && info.ID == "" && crawl.IsPermanent(err) {
		return nil // it was never submitted, or is gone already
	}
	if err == nil || info.ID != "" {
		_, err = e.Delete(ctx, id, true)
	}
	if err != nil {
		return fmt.Errorf("delete job %s of the cluster: %w", id, err)
	}
	return nil
}

// forget drops what is remembered of a job.
func (e *Engine) forget(id crawl.JobID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.quiet, id)
	delete(e.letters, id)
	delete(e.waits, id)
}
