package wasm

import (
	"context"
	"maps"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/abi"
)

// loaded is a compiled module: a plugin.Plugin.
type loaded struct {
	d       *plugin.Descriptor
	host    *Host
	limits  plugin.Limits
	runtime wazero.Runtime
	code    wazero.CompiledModule

	mu       sync.Mutex
	counters map[string]int64
}

// Descriptor implements plugin.Plugin.
func (m *loaded) Descriptor() *plugin.Descriptor { return m.d }

// Close implements plugin.Plugin.
func (m *loaded) Close() error { return m.runtime.Close(context.Background()) }

// count adds to a counter; those beyond maxCounters are left out.
func (m *loaded) count(name string, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.counters[name]; known || len(m.counters) < maxCounters {
		m.counters[name] += n
	}
}

// Counters returns what the module counted by counter_add, by name.
func (m *loaded) Counters() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.counters)
}

// Configure implements plugin.Plugin: it makes the first instance, and gives it its settings.
func (m *loaded) Configure(ctx context.Context, at crawl.Point, with map[string]any) (plugin.Instance, error) {
	serves, ok := m.d.ServesAt(at)
	if !ok {
		return nil, &plugin.ConfigError{Text: m.d.Use() + " does not serve the point " + string(at)}
	}
	frame, err := abi.AppendConfigure(nil, at, with)
	if err != nil {
		return nil, &plugin.ConfigError{Text: err.Error()}
	}
	i := &instance{m: m, at: at, serves: serves, settings: frame}
	g, err := i.fresh(ctx)
	if err != nil {
		return nil, err
	}
	i.put(g)
	return i, nil
}
