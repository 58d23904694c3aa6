package main

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Bounds of dry runs, as those of one machine.
const (
	maxDryRuns  = 4 // at once
	dryRunTime  = 3 * time.Minute
	dryRunWaits = 90 * time.Second // for a turn of a host
	maxDryBody  = 16 << 20
)

// dryRuns sends URLs through the stages, in this program. When a host may be asked, only the frontier of the node that
// owns it knows: it gives the turns.
type dryRuns struct {
	s    *served
	busy chan struct{}
}

var _ api.DryRuns = dryRuns{}

// Check implements api.DryRuns. A cluster has no plug-ins that nobody vouches for.
func (d dryRuns) Check(ctx context.Context, source string) (*workflow.Checked, error) {
	return d.s.manager.Check(ctx, source)
}

// DryRun implements api.DryRuns.
func (d dryRuns) DryRun(ctx context.Context, job *crawl.Job, t api.Tried) (*trial.Trial, error) {
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
	bounded, dns := *job, dnscache.Default()
	bounded.Limits.MaxBody = min(bounded.Limits.MaxBody, maxDryBody)
	dns.Server = cfg.Fetch.DNS
	opt := tryout.Options{Job: &bounded, URL: t.URL, Depth: t.Depth, Fetch: node.FetchConfig(cfg), DNS: dns,
		Log: d.s.log, Turns: node.GuestTurns{Guests: stores.Guests()}, Patience: dryRunWaits,
		Plugins: node.TrialPlugins(source), Stored: tryout.Stored{Robots: stores.Hosts()}}
	if t.Body != nil {
		opt.Given = &tryout.Given{Body: t.Body, ContentType: t.ContentType}
	}
	known, err := d.s.engine.Job(ctx, job.ID)
	if err != nil {
		return nil, err
	}
	if known != nil {
		opt.Stored.Copies, opt.Stored.URLs, opt.Stored.Jars = stores.ContentSet(), stores.URLs(), stores.Jars()
	}
	return tryout.Run(ctx, opt)
}
