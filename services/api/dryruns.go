package main

import (
	"context"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Bounds of dry runs, as those of one machine.
const (
	maxDryRuns = 4 // at once
	dryRunTime = 3 * time.Minute
)

// dryRuns sends pages that are given through the stages. It asks for none: when a host may be asked, only the frontier
// of the node that owns it knows.
type dryRuns struct {
	s    *served
	busy chan struct{}
}

var _ api.DryRuns = dryRuns{}

var errNoRequests = errors.New("a dry run of a cluster asks no host, for only the node that owns it knows when its turn is: " +
	"give the page (body), or try the URL where nobody else crawls: whirlpool try URL")

// Check implements api.DryRuns. A cluster has no plug-ins that nobody vouches for.
func (d dryRuns) Check(ctx context.Context, source string) (*workflow.Checked, error) {
	return d.s.manager.Check(ctx, source)
}

// DryRun implements api.DryRuns.
func (d dryRuns) DryRun(ctx context.Context, job *crawl.Job, t api.Tried) (*trial.Trial, error) {
	if t.Body == nil {
		return nil, &control.Misuse{Err: errNoRequests}
	}
	select {
	case d.busy <- struct{}{}:
		defer func() { <-d.busy }()
	default:
		return nil, trial.ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, dryRunTime)
	defer cancel()
	cfg, stores := d.s.p.Config, d.s.engine.Postgres
	plugins, err := node.OpenPlugins(cfg.Plugins, stores)
	if err != nil {
		return nil, err
	}
	var source plugin.Source
	if plugins != nil {
		defer func() { _ = plugins.Close() }() // it was read only
		source = plugins
	}
	opt := tryout.Options{Job: job, URL: t.URL, Depth: t.Depth, Fetch: fetcher.Default(), DNS: dnscache.Default(),
		Log: d.s.log, Given: &tryout.Given{Body: t.Body, ContentType: t.ContentType},
		Plugins: node.TrialPlugins(source), Stored: tryout.Stored{Robots: stores.Hosts()}}
	known, err := d.s.engine.Job(ctx, job.ID)
	if err != nil {
		return nil, err
	}
	if known != nil {
		opt.Stored.Copies, opt.Stored.URLs, opt.Stored.Jars = stores.ContentSet(), stores.URLs(), stores.Jars()
	}
	return tryout.Run(ctx, opt)
}
