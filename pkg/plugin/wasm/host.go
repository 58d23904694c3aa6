package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/abi"
)

// Config says how modules run.
type Config struct {
	// Cache is a directory for compiled code; empty: modules are compiled anew by each process, in seconds for a large
	// one. wazero keys it by the module's bytes, its own version and the processor.
	Cache string
	Caps  plugin.Limits // the most that modules get; 0: what the interface permits
	Log   *slog.Logger
}

// Host loads modules.
type Host struct {
	cfg   Config
	cache wazero.CompilationCache
}

// New returns a host.
func New(cfg Config) (*Host, error) {
	h := &Host{cfg: cfg}
	if cfg.Cache == "" {
		h.cache = wazero.NewCompilationCache()
		return h, nil
	}
	var err error
	if h.cache, err = wazero.NewCompilationCacheWithDir(cfg.Cache); err != nil {
		return nil, fmt.Errorf("cache of compiled plug-ins: %w", err)
	}
	return h, nil
}

// Close gives back the compiled code. Plug-ins must be closed before.
func (h *Host) Close() error { return h.cache.Close(context.Background()) }

// page is the unit of a module's memory.
const page = 64 << 10

// Load compiles a module: seconds for one of megabytes that the cache does not have.
func (h *Host) Load(ctx context.Context, d *plugin.Descriptor, module []byte) (_ plugin.Plugin, err error) {
	limits := abi.LimitsOf(d, h.cfg.Caps)
	m := &loaded{d: d, host: h, limits: limits, counters: map[string]int64{}}
	m.runtime = wazero.NewRuntimeWithConfig(ctx,
		wazero.NewRuntimeConfig().WithCompilationCache(h.cache).WithCloseOnContextDone(true).
			WithMemoryLimitPages(uint32(max(int64(limits.Memory)/page, 1))))
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, m.runtime); err != nil {
		return nil, err
	}
	if err := m.imports(ctx); err != nil {
		return nil, err
	}
	if m.code, err = m.runtime.CompileModule(ctx, module); err != nil {
		return nil, fmt.Errorf("%s is no WASM module that can be run: %w", d.Entry, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", d.Entry, err)
	}
	return m, nil
}

// check refuses a module that lacks what the interface asks for, or wants more than there is.
func (m *loaded) check() error {
	for _, f := range m.code.ImportedFunctions() {
		if from, name, _ := f.Import(); from != hostModule && from != wasi_snapshot_preview1.ModuleName {
			return fmt.Errorf("it imports %s.%s: only %s and %s are there", from, name, hostModule,
				wasi_snapshot_preview1.ModuleName)
		}
	}
	i32, i64 := []api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI64}
	type wanted struct {
		name    string
		in, out []api.ValueType
	}
	list := []wanted{{"whirlpool_abi", nil, i32}, {"wp_alloc", i32, i32}, {"wp_configure", i32, i64}}
	for _, s := range m.d.Serves {
		if s.Point == crawl.AtProvider || s.Point == crawl.AtOutput {
			return fmt.Errorf("modules cannot serve the point %s", s.Point)
		}
		list = append(list, wanted{exportOf(s.Point), i32, i64})
	}
	exports := m.code.ExportedFunctions()
	for _, w := range list {
		f := exports[w.name]
		if f == nil {
			return fmt.Errorf("it does not export %s, which %s asks for", w.name, plugin.ABI)
		}
		if string(f.ParamTypes()) != string(w.in) || string(f.ResultTypes()) != string(w.out) {
			return fmt.Errorf("its %s has other parameters or results than %s asks for", w.name, plugin.ABI)
		}
	}
	return nil
}

func exportOf(at crawl.Point) string { return "wp_" + string(at) }

// hostModule is what modules may import besides WASI.
const hostModule = "whirlpool"

// Bounds of what a module may tell.
const (
	maxLog      = 4 << 10 // bytes a call
	maxCounters = 32
	maxName     = 64
)

// imports gives the module what it may call.
func (m *loaded) imports(ctx context.Context) error {
	_, err := m.runtime.NewHostModuleBuilder(hostModule).
		NewFunctionBuilder().WithFunc(func(ctx context.Context, mod api.Module, _, at, n int32) {
		g, _ := ctx.Value(guestKey{}).(*guest)
		text, ok := mod.Memory().Read(uint32(at), uint32(min(max(n, 0), maxLog)))
		if g != nil && ok {
			g.say(string(text))
		}
	}).Export("log").
		NewFunctionBuilder().WithFunc(func(_ context.Context, mod api.Module, at, length int32, n int64) {
		if name, ok := mod.Memory().Read(uint32(at), uint32(min(max(length, 0), maxName))); ok {
			m.count(string(name), n)
		}
	}).Export("counter_add").Instantiate(ctx)
	return err
}
