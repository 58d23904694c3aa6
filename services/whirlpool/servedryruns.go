package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/engine"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// dryRuns gives the API the engine's dry runs.
type dryRuns struct {
	e     *engine.Engine
	check workflow.Service // that permits plug-ins which nobody vouches for
}

var _ api.DryRuns = dryRuns{}

// Check implements api.DryRuns.
func (d dryRuns) Check(ctx context.Context, source string) (*workflow.Checked, error) {
	return d.check.Check(ctx, source)
}

// DryRun implements api.DryRuns.
func (d dryRuns) DryRun(ctx context.Context, job *crawl.Job, t api.Tried) (*trial.Trial, error) {
	var given *tryout.Given
	if t.Body != nil {
		given = &tryout.Given{Body: t.Body, ContentType: t.ContentType}
	}
	return d.e.DryRun(ctx, job, t.URL, t.Depth, given)
}
