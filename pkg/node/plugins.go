package node

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/expr"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/tiers"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// newPlugins returns what runs the plug-ins of jobs. A nil source has those that come with the program. hold pauses a
// job.
func newPlugins(source plugin.Source, log *slog.Logger, metrics prometheus.Registerer, hold func(context.Context, crawl.JobID, string) error) *chain.Runner {
	if source == nil {
		source = builtins{}
	}
	return chain.New(chain.Config{Source: source, Log: log, Metrics: metrics, Stop: hold, When: compileWhen})
}

func compileWhen(at crawl.Point, text string) (chain.Condition, error) {
	return expr.Compile(at, text, expr.AsBool())
}

// pluginSource opens the repository that a program's configuration names; nil: there is none.
func pluginSource(cfg process.Plugins) (plugin.Source, func() error, error) {
	if cfg.Dir == "" {
		return nil, func() error { return nil }, nil
	}
	d, err := repo.Open(cfg.Dir, repo.Settings{Loaders: tiers.Loaders(cfg.Dir), Keys: cfg.Keys, Processes: cfg.Processes})
	if err != nil {
		return nil, nil, fmt.Errorf("plugins: %w", err)
	}
	return d, d.Close, nil
}

// builtins are the plug-ins that come with the program.
type builtins struct{}

// Plugin implements plugin.Source.
func (builtins) Plugin(_ context.Context, use, digest string) (plugin.Plugin, error) {
	p, ok := builtin.Plugin(use)
	switch {
	case !ok:
		return nil, fmt.Errorf("use: there is no plug-in %s here; \"whirlpool plugin list\" shows what there is", use)
	case digest != "":
		return nil, fmt.Errorf("digest: %s comes with the program and has none: leave it out", use)
	}
	return p, nil
}

// holdFor pauses a job whose pipeline asks for it: that of the only job, as a user would; one of many, as its own.
//
//nolint:contextcheck // the pause must not end with the message
func (e *Engine) holdFor(ctx context.Context, id crawl.JobID, why string) error {
	if !e.store.Many() {
		e.Pause(true)
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	e.beside.Go(func() { // who holds the job's turn may wait for messages to be handled
		if err := e.remark(ctx, id, func(m *jobMark) { m.Held, m.Why = true, why }); err != nil {
			e.log.Error("a job cannot be paused", "job", id, "error", err)
		}
	})
	return nil
}

// holdFor pauses a job in its store, where the frontiers of all nodes look.
func (c *cluster) holdFor(ctx context.Context, id crawl.JobID, _ string) error {
	if c.postgres == nil {
		return nil
	}
	if err := c.postgres.Jobs().SetState(context.WithoutCancel(ctx), id, crawl.JobPaused); err != nil {
		return fmt.Errorf("pause job %s: %w", id, err)
	}
	return nil
}
