// Package engine is the engine of one process as the conductor, the API and the explorer see it: pkg/node's Engine with
// the views of its jobs.
package engine

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Engine crawls many jobs at once, over one local store. What it does with them is in node.Engine; here are the
// answers.
type Engine struct {
	*node.Engine
	lines LogIndex // nil: none
}

var _ workflow.Engine = (*Engine)(nil)

// Open opens the engine. What ran when it was closed, or killed, goes on when Run is called.
func Open(ctx context.Context, opt node.EngineOptions) (*Engine, error) {
	n, err := node.OpenEngine(ctx, opt)
	if err != nil {
		return nil, err
	}
	return &Engine{Engine: n}, nil
}

// Progress implements workflow.Engine.
func (e *Engine) Progress(ctx context.Context, id crawl.JobID) (workflow.Progress, error) {
	s, known, err := e.State(ctx, id)
	if err != nil || !known {
		return workflow.Progress{}, err
	}
	return workflow.Progress{Known: true, Ended: s.Ended, Revised: s.Revised, Held: s.Held, HeldBy: s.HeldBy,
		Stopped: s.Stopped, InFlight: s.InFlight, Braked: e.Braked(), Fault: s.Fault, Pages: s.Pages, Queued: s.Queued,
		Letters: s.Letters, Troubles: e.troubles(id)}, nil
}

// Job returns a job as it was last revised; nil: the engine does not know it.
func (e *Engine) Job(ctx context.Context, id crawl.JobID) (*crawl.Job, error) {
	job, err := e.Store().Jobs().Job(ctx, id)
	if crawl.IsPermanent(err) {
		return nil, nil //nolint:nilerr // that is how the store says so
	}
	return job, err
}

// Replay delivers dead letters of a job again: those with the ids, all where none are given.
func (e *Engine) Replay(ctx context.Context, id crawl.JobID, ids ...crawl.MessageID) (int, error) {
	return e.ReplayLetters(ctx, id, report.Revive, ids...)
}
