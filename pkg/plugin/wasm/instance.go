package wasm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/abi"
)

// instance is a module with settings: a pool of guests, each of which handles one call at a time.
type instance struct {
	m        *loaded
	at       crawl.Point
	serves   plugin.Serves
	settings []byte

	mu     sync.Mutex
	idle   []*guest
	closed bool
}

// Bounds of a guest's life.
const (
	maxCalls  = 10_000
	startTime = 20 * time.Second // until a fresh guest has its settings
)

// Handle implements plugin.Instance.
func (i *instance) Handle(ctx context.Context, call *plugin.Call) (*plugin.Answer, error) {
	a, _, err := i.handle(ctx, call)
	return a, err
}

// HandleStrict implements plugin.Strict.
func (i *instance) HandleStrict(ctx context.Context, call *plugin.Call) (*plugin.Answer, []string, error) {
	a, data, err := i.handle(ctx, call)
	if err != nil {
		return nil, nil, err
	}
	return a, abi.Unknown(i.at, data), nil
}

func (i *instance) handle(ctx context.Context, call *plugin.Call) (*plugin.Answer, []byte, error) {
	frame, err := abi.AppendCall(nil, &i.serves, call)
	if err != nil {
		return nil, nil, err
	}
	g := i.take()
	if g == nil {
		var stop func()
		if g, ctx, stop, err = i.freshFor(ctx); err != nil {
			return nil, nil, err
		}
		defer stop()
	}
	g.begin(call.Now, call.ID)
	data, err := g.callWithin(ctx, call.CPU, exportOf(i.at), frame)
	log := g.log
	if err != nil || g.calls >= maxCalls || g.memory() > int64(i.m.limits.Memory)/2 {
		g.close()
	} else {
		i.put(g)
	}
	if err != nil {
		return nil, nil, err
	}
	a, err := abi.ReadAnswer(call.Message, data)
	if err != nil {
		return nil, nil, err
	}
	a.Log = append(log, a.Log...)
	return a, data, nil
}

// freshFor makes a guest for a call. The time that this takes is not the call's: the context has as much time left as
// before, and ends with the other for every other reason.
func (i *instance) freshFor(ctx context.Context) (*guest, context.Context, func(), error) {
	left := time.Hour
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel()
		}
	})
	g, err := i.fresh(own)
	if err != nil {
		unlink()
		cancel()
		return nil, nil, nil, err
	}
	timed, done := context.WithTimeout(own, left)
	return g, timed, func() { unlink(); done(); cancel() }, nil
}

// fresh makes a guest and gives it its settings.
func (i *instance) fresh(ctx context.Context) (*guest, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	g, err := i.m.guest(ctx)
	if err != nil {
		return nil, err
	}
	data, err := g.call(ctx, "wp_configure", i.settings)
	if err == nil {
		err = abi.ReadConfigured(data)
	}
	if err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (i *instance) take() *guest {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.idle)
	if n == 0 {
		return nil
	}
	g := i.idle[n-1]
	i.idle = i.idle[:n-1]
	return g
}

func (i *instance) put(g *guest) {
	i.mu.Lock()
	closed := i.closed
	if !closed {
		i.idle = append(i.idle, g)
	}
	i.mu.Unlock()
	if closed {
		g.close()
	}
}

// Close implements plugin.Instance.
func (i *instance) Close() error {
	i.mu.Lock()
	idle := i.idle
	i.idle, i.closed = nil, true
	i.mu.Unlock()
	for _, g := range idle {
		g.close()
	}
	return nil
}

// failure says in terms of package plugin why a call failed.
func failure(ctx context.Context, err error, full bool, stderr string) error {
	if stderr != "" {
		err = fmt.Errorf("%w: it wrote: %s", err, stderr)
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return plugin.ErrTimeout
	case ctx.Err() != nil: // the limit of CPU time is a cause, too
		return context.Cause(ctx)
	case full:
		return fmt.Errorf("%w: %w", plugin.ErrMemory, err)
	}
	return fmt.Errorf("%w: %w", plugin.ErrTrap, err)
}
