package node

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
)

// Bounds of dry runs.
const (
	maxDryRuns  = 4 // at once
	dryRunTime  = 3 * time.Minute
	dryRunWaits = 90 * time.Second // for a turn of a host
	maxDryBody  = 16 << 20
)

// DryRun sends a URL through the pipeline as it would be, beside what is crawled: it waits for its turns of the host,
// and the crawls keep their distance to its requests. Nothing is stored, claimed or counted. The job's id is that of
// the execution whose pages and cookies it is compared with, or another.
func (e *Engine) DryRun(ctx context.Context, job *crawl.Job, url string, depth int,
	given *tryout.Given) (*trial.Trial, error) {
	select {
	case e.dry <- struct{}{}:
		defer func() { <-e.dry }()
	default:
		return nil, trial.ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, dryRunTime)
	defer cancel()
	bounded := *job
	bounded.Limits.MaxBody = min(bounded.Limits.MaxBody, maxDryBody)
	s := e.store
	opt := tryout.Options{Job: &bounded, URL: url, Depth: depth, Fetch: e.opt.Node.Fetch, Resolver: e.Node.deps.Resolver,
		Log: e.log, Given: given, Turns: ownTurns{e.frontier}, Patience: dryRunWaits, Opener: e.opener,
		Plugins: TrialPlugins(cmp.Or(e.opt.DryPlugins, e.opt.Plugins)), Stored: tryout.Stored{Robots: s.Hosts()}}
	if _, known, err := e.State(ctx, job.ID); err != nil {
		return nil, err
	} else if known {
		opt.Stored.Copies, opt.Stored.URLs, opt.Stored.Jars = s.ContentSet(), s.URLs(), s.Jars()
	}
	return tryout.Run(ctx, opt)
}

// ownTurns are turns that the frontier of this program gives.
type ownTurns struct{ f *frontier.Frontier }

// Visit implements tryout.Turns.
func (t ownTurns) Visit(ctx context.Context, ask frontier.Ask) (tryout.Turn, error) {
	v, err := t.f.Visit(ctx, ask)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// TrialPlugins makes what runs the plug-ins of a trial: apart from those of the crawls, with breakers and figures of
// its own. A nil source has those that come with the program.
func TrialPlugins(source plugin.Source) func(*slog.Logger) *chain.Runner {
	return func(log *slog.Logger) *chain.Runner { return newPlugins(source, log, nil, nil) }
}
