// Package engine is the engine of one process as the conductor, the API and the explorer see it: pkg/node's Engine with
// the views of its jobs.
package engine

import (
	"context"
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Engine crawls many jobs at once, over one local store.
type Engine struct {
	*node.Engine
}

var _ workflow.Engine = (*Engine)(nil)

var errSoon = errors.New("the engine is not merged yet")

// Open opens the engine. What ran when it was closed, or killed, goes on when Run is called.
func Open(ctx context.Context, opt node.EngineOptions) (*Engine, error) {
	n, err := node.OpenEngine(ctx, opt)
	if err != nil {
		return nil, err
	}
	return &Engine{n}, nil
}

// Progress implements workflow.Engine.
func (e *Engine) Progress(context.Context, crawl.JobID) (workflow.Progress, error) {
	return workflow.Progress{}, errSoon
}

// Stats implements workflow.Engine.
func (e *Engine) Stats(context.Context, crawl.JobID) (*workflow.Stats, error) { return nil, errSoon }

// Audit implements workflow.Engine.
func (e *Engine) Audit(context.Context, crawl.JobID) (*workflow.AuditSummary, error) {
	return nil, errSoon
}

// View answers questions about a job: its status, the story of a URL, its dead letters, its audit.
func (e *Engine) View(context.Context, crawl.JobID) (report.View, error) { return nil, errSoon }
