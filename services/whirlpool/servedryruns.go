package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/engine"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
)

// dryRuns gives the API the engine's dry runs.
type dryRuns struct{ e *engine.Engine }

var _ api.DryRuns = dryRuns{}

// DryRun implements api.DryRuns.
func (d dryRuns) DryRun(ctx context.Context, job *crawl.Job, t api.Tried) (*trial.Trial, error) {
	var given *tryout.Given
	if t.Body != nil {
		given = &tryout.Given{Body: t.Body, ContentType: t.ContentType}
	}
	return d.e.DryRun(ctx, job, t.URL, t.Depth, given)
}
