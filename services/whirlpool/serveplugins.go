package main

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

// servePlugins gives the API the plug-ins of the repository, and what the engine knows of those in use.
type servePlugins struct{ s *served }

var _ api.Plugins = servePlugins{}

// List implements api.Plugins.
func (p servePlugins) List(ctx context.Context) ([]repo.Item, error) { return p.s.plugins.All(ctx) }

// Change implements api.Plugins.
func (p servePlugins) Change(_ context.Context, do func(*repo.Repository) error) error {
	return do(p.s.plugins)
}

// Registry implements api.Plugins. That of the settings may be a private one.
func (p servePlugins) Registry(artifact string) (repo.Upstream, string, error) {
	f := p.s.flags
	return node.PluginArtifact(artifact, f.upstream(), f.allowPrivate)
}

// Figures implements api.Plugins.
func (p servePlugins) Figures(_ context.Context, id crawl.JobID) ([]chain.Figures, error) {
	return p.s.engine.Figures(id), nil
}

// Waiting implements api.Plugins.
func (p servePlugins) Waiting(context.Context) (map[string]int, error) {
	return p.s.engine.Waiting(), nil
}
