package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
)

// plugins gives the API the plug-ins of the cluster's repository, and what the programs say of those in use.
type plugins struct{ s *served }

var _ api.Plugins = plugins{}

// List implements api.Plugins.
func (p plugins) List(ctx context.Context) ([]repo.Item, error) {
	d, err := node.OpenPlugins(p.s.p.Config.Plugins, p.s.engine.Postgres)
	if err != nil || d == nil {
		return repo.BuiltIn(), err
	}
	defer func() { _ = d.Close() }() // it was read only
	return d.All(ctx)
}

// Change implements api.Plugins. A directory of this machine is no repository of the cluster.
func (p plugins) Change(_ context.Context, do func(*repo.Repository) error) error {
	cfg := p.s.p.Config.Plugins
	if cfg.Dir == "" || cfg.Store != process.PluginsInPostgres {
		return fmt.Errorf("%w: plugins.store: postgres in the configuration of its nodes gives the cluster one",
			api.ErrNoRepository)
	}
	d, err := node.OpenPlugins(cfg, p.s.engine.Postgres)
	if err != nil {
		return err
	}
	return errors.Join(do(d), d.Close())
}

// Registry implements api.Plugins. That of the configuration may be a private one.
func (p plugins) Registry(artifact string) (repo.Upstream, string, error) {
	cfg := p.s.p.Config
	return node.PluginArtifact(artifact, cfg.Plugins.Registry, cfg.Fetch.AllowPrivate)
}

// Figures implements api.Plugins: the sums of what the programs that run did since they started.
func (p plugins) Figures(ctx context.Context, id crawl.JobID) ([]chain.Figures, error) {
	agents, err := p.s.engine.Postgres.Agents().All(ctx)
	if err != nil {
		return nil, err
	}
	var parts [][]chain.Figures
	for i := range agents {
		if len(agents[i].Plugins) == 0 {
			continue
		}
		var all map[crawl.JobID][]chain.Figures
		if err := json.Unmarshal(agents[i].Plugins, &all); err != nil {
			return nil, fmt.Errorf("what %s says of its plug-ins: %w", agents[i].ID, err)
		}
		parts = append(parts, all[id])
	}
	return chain.Join(parts...), nil
}

// Waiting implements api.Plugins.
func (p plugins) Waiting(ctx context.Context) (map[string]int, error) {
	view, err := p.s.engine.View()
	if err != nil {
		return nil, err
	}
	now, err := view.Lately(ctx)
	if err != nil {
		return nil, err
	}
	topics := map[string]int{}
	for i := range now.Topics {
		t := &now.Topics[i]
		topics[t.Name] = int(t.Ready + t.Unacked + t.Retrying)
	}
	out := map[string]int{}
	for _, s := range crawl.Stages() {
		for _, t := range s.Takes {
			out[s.Name] += topics[t.Name]
		}
	}
	return out, nil
}
