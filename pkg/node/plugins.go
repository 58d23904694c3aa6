package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/expr"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/oci"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/tiers"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// newPlugins returns what runs the plug-ins of jobs. A nil source has those that come with the program. hold pauses a
// job.
func newPlugins(source plugin.Source, log *slog.Logger, metrics prometheus.Registerer,
	hold func(context.Context, crawl.JobID, string) error) *chain.Runner {
	if source == nil {
		source = builtins{}
	}
	return chain.New(chain.Config{Source: source, Log: log, Metrics: metrics, Stop: hold, When: compileWhen})
}

func compileWhen(at crawl.Point, text string) (chain.Condition, error) {
	return expr.Condition(at, text)
}

// OpenPlugins opens the repository that a configuration of programs names; nil: there is none. db is asked where the
// configuration says so.
func OpenPlugins(cfg process.Plugins, db *postgres.Store) (*repo.Repository, error) {
	if cfg.Dir == "" {
		return nil, nil
	}
	var store repo.Store = repo.Files(cfg.Dir)
	if cfg.Store == process.PluginsInPostgres {
		if db == nil {
			return nil, errors.New("plugins.store: postgres, and the program has no connection to it")
		}
		store = repo.Cached(db.Plugins(), cfg.Dir)
	}
	set := repo.Settings{Loaders: tiers.Loaders(cfg.Dir), Keys: cfg.Keys, Processes: cfg.Processes}
	if cfg.Registry != "" {
		from, err := oci.Open(cfg.Registry, oci.Settings{AllowPrivate: true, Timeout: ForRegistry})
		if err != nil {
			return nil, fmt.Errorf("plugins.registry: %w", err)
		}
		set.Upstream = from
	}
	d, err := repo.New(store, cfg.Dir, set)
	if err != nil {
		return nil, fmt.Errorf("plugins: %w", err)
	}
	return d, nil
}

// ForRegistry bounds how long somebody who names a plug-in waits for a registry.
const ForRegistry = 20 * time.Second

// PluginArtifact opens the registry that somebody named with a plug-in, as in oci://HOST/PATH/OWNER/NAME:VERSION. Its
// address must be a public one unless allowPrivate, or unless it is the registry of the settings, known.
func PluginArtifact(artifact, known string, allowPrivate bool) (from repo.Upstream, use string, err error) {
	address, _, _, err := oci.Split(artifact)
	if err != nil {
		return nil, "", err
	}
	return oci.Artifact(artifact, oci.Settings{AllowPrivate: allowPrivate || address == strings.TrimSuffix(known, "/"),
		Timeout: ForRegistry})
}

// PinPlugins refuses a job whose pipeline is at fault, as where it names a plug-in that the configuration's programs
// cannot use, and writes into it which bytes those are that it names by name alone.
func PinPlugins(ctx context.Context, cfg process.Plugins, db *postgres.Store, job *crawl.Job) (err error) {
	if job.Pipeline.Empty() {
		return nil
	}
	if errs := CheckEnds(job, InCluster); len(errs) > 0 {
		return errors.Join(errs...)
	}
	d, err := OpenPlugins(cfg, db)
	if err != nil {
		return err
	}
	if d == nil {
		return errors.Join(repo.Check(ctx, builtins{}, &job.Pipeline)...)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := errors.Join(repo.Check(ctx, d, &job.Pipeline)...); err != nil {
		return err
	}
	return repo.Pin(ctx, d, &job.Pipeline)
}

// runsPlugins are the roles that pass messages through the plug-ins of jobs.
func runsPlugins() []Role { return []Role{Fetcher, Parser, ContentSeen} }

// openPlugins makes what runs the plug-ins of jobs.
func (c *cluster) openPlugins(context.Context) error {
	d, err := OpenPlugins(c.p.Config.Plugins, c.postgres)
	if err != nil {
		return err
	}
	if d == nil {
		c.plugins = newPlugins(nil, c.p.Log, c.p.Registry, c.holdFor)
	} else {
		c.onClose(d.Close)
		c.plugins = newPlugins(d, c.p.Log, c.p.Registry, c.holdFor)
	}
	c.onClose(c.plugins.Close)
	return nil
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
		e.pauseFor(true, why)
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
	_, err := c.postgres.Jobs().Turn(context.WithoutCancel(ctx), id, 0, crawl.JobPaused, crawl.JobRunning)
	if err != nil {
		return fmt.Errorf("pause job %s: %w", id, err)
	}
	return nil
}
