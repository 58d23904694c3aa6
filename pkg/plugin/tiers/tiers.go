// Package tiers has the loaders of all tiers of plug-ins.
package tiers

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/wasm"
)

// Loaders are the tiers that programs run. Compiled modules are kept below dir.
func Loaders(dir string) map[plugin.Tier]repo.Loader {
	return map[plugin.Tier]repo.Loader{
		plugin.WASM: func(ctx context.Context, p *repo.Package, _ string) (plugin.Plugin, error) {
			return loadModule(ctx, filepath.Join(dir, "cache"), p)
		},
		plugin.Process: func(_ context.Context, p *repo.Package, dir string) (plugin.Plugin, error) {
			return process.Load(p.Descriptor, dir, slog.Default())
		},
	}
}

// hosted is a module with the host of its own.
type hosted struct {
	plugin.Plugin
	host *wasm.Host
}

// Close implements plugin.Plugin.
func (h *hosted) Close() error { return errors.Join(h.Plugin.Close(), h.host.Close()) }

// loadModule compiles a module, or takes it from the cache. A cache that does not work makes that slower and nothing
// else.
func loadModule(ctx context.Context, cache string, p *repo.Package) (plugin.Plugin, error) {
	m, err := loadFrom(ctx, cache, p)
	if err == nil {
		return m, nil
	}
	m, plain := loadFrom(ctx, "", p)
	if plain != nil {
		return nil, plain
	}
	slog.Warn("the cache of compiled plug-ins does not work: each program compiles them itself", "dir", cache,
		"plugin", p.Descriptor.Use(), "error", err)
	return m, nil
}

func loadFrom(ctx context.Context, cache string, p *repo.Package) (plugin.Plugin, error) {
	host, err := wasm.New(wasm.Config{Cache: cache})
	if err != nil {
		return nil, err
	}
	m, err := host.Load(ctx, p.Descriptor, p.Entry())
	if err != nil {
		return nil, errors.Join(err, host.Close()) //nolint:contextcheck // it must be closed in any case
	}
	return &hosted{m, host}, nil
}
