package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// dryRuns gives the API the engine's dry runs.
type dryRuns struct {
	s *served
	f *serveFlags
}

var _ api.DryRuns = dryRuns{}

// Check implements api.DryRuns: with the plug-ins that nobody vouches for.
func (d dryRuns) Check(ctx context.Context, source string) (*workflow.Checked, error) {
	check, err := d.f.checker(d.s.dry) //nolint:contextcheck // as for workflows
	if err != nil {
		return nil, err
	}
	checks := workflow.NewManager(d.s.store, d.s.engine, workflow.Options{Check: check, Log: d.s.log}) // it is not run
	return checks.Check(ctx, source)
}

// DryRun implements api.DryRuns.
func (d dryRuns) DryRun(ctx context.Context, job *crawl.Job, t api.Tried) (*trial.Trial, error) {
	var given *tryout.Given
	if t.Body != nil {
		given = &tryout.Given{Body: t.Body, ContentType: t.ContentType}
	}
	return d.s.engine.DryRun(ctx, job, t.URL, t.Depth, given)
}
