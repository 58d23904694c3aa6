package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/wasm"
)

// pluginLoaders are the tiers that this program runs. Compiled modules are kept below dir.
func pluginLoaders(dir string) map[plugin.Tier]repo.Loader {
	host := sync.OnceValues(func() (*wasm.Host, error) {
		return wasm.New(wasm.Config{Cache: filepath.Join(dir, "compiled"), Log: slog.Default()})
	})
	return map[plugin.Tier]repo.Loader{
		plugin.WASM: func(p *repo.Package, _ string) (plugin.Plugin, error) {
			h, err := host()
			if err != nil {
				return nil, err
			}
			return h.Load(context.Background(), p.Descriptor, p.Entry())
		},
		plugin.Process: func(p *repo.Package, dir string) (plugin.Plugin, error) {
			return process.Load(p.Descriptor, dir, slog.Default())
		},
	}
}
