package repo

import (
	"context"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// watched is a plug-in that fails once it was disabled. Users do not close it: others may use it too.
type watched struct {
	plugin.Plugin
	off atomic.Bool
}

// watchEvery is how often it is asked whether a plug-in in use was disabled.
const watchEvery = 3 * time.Second

// watch looks from now on whether plug-ins in use were disabled. No page waits for that. d.mu is held.
func (d *Repository) watch() {
	if d.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	d.stop = func() { cancel(); wg.Wait() }
	used := make(chan map[string]*plugin.Descriptor, 1)
	wg.Go(func() {
		defer close(used)
		tick := time.NewTicker(d.set.Watch)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			inUse := d.look(ctx)
			select {
			case used <- inUse:
			default: // it is still getting ready what came before
			}
		}
	})
	wg.Go(func() {
		tried := map[string]bool{}
		for inUse := range used {
			for _, own := range inUse {
				d.getReady(ctx, own, tried)
			}
		}
	})
}

// getReady loads the newest version of a plug-in in use, where that may be used: a crawl that goes over to it does not
// have to wait until it is compiled. What fails is told when a crawl asks for it; here it is tried once, and once more
// when somebody approves it.
func (d *Repository) getReady(ctx context.Context, own *plugin.Descriptor, tried map[string]bool) {
	names, err := d.store.Names(ctx, namesDir+own.Name+"/")
	if err != nil {
		return
	}
	newest := own
	for _, n := range names {
		use, ok := useOf(n)
		_, version, _ := strings.Cut(use, "@")
		if one := (&plugin.Descriptor{Name: own.Name, Version: version}); ok && compareUse(one, newest) > 0 {
			newest = one
		}
	}
	if newest == own {
		return
	}
	digest, err := d.Digest(ctx, newest.Use())
	if err != nil {
		return
	}
	said, err := d.word(ctx, digest)
	if key := digest + string(said.Level); err == nil && !tried[key] && ctx.Err() == nil {
		tried[key] = true
		_, _ = d.load(ctx, newest.Use(), digest) // a crawl that asks for it hears why
	}
}

// look asks once, and says which plug-ins are in use, by name.
func (d *Repository) look(ctx context.Context) (inUse map[string]*plugin.Descriptor) {
	d.mu.Lock()
	loaded := maps.Clone(d.loaded)
	d.mu.Unlock()
	inUse = map[string]*plugin.Descriptor{}
	for digest, l := range loaded {
		select {
		case <-l.ready:
		default:
			continue // it is being loaded: trust was asked for, or will be
		}
		if l.err != nil {
			continue
		}
		d.ask(ctx, digest, l)
		if own := l.plugin.Descriptor(); inUse[own.Name] == nil || compareUse(own, inUse[own.Name]) > 0 {
			inUse[own.Name] = own
		}
	}
	return inUse
}

// ask asks whether a plug-in was disabled. Where the store does not answer, it stays as it is.
func (d *Repository) ask(ctx context.Context, digest string, l *loading) {
	if said, err := d.word(ctx, digest); err == nil {
		l.plugin.off.Store(said.Level == Disabled)
	}
}

// allowed returns ErrDisabled where the plug-in was disabled.
func (w *watched) allowed() error {
	if w.off.Load() {
		return ErrDisabled
	}
	return nil
}

// Configure implements plugin.Plugin.
func (w *watched) Configure(ctx context.Context, at crawl.Point, with map[string]any) (plugin.Instance, error) {
	i, err := w.Plugin.Configure(ctx, at, with)
	if err != nil {
		return nil, err
	}
	return &watchedInstance{i, w}, nil
}

// Close implements plugin.Plugin.
func (w *watched) Close() error { return nil }

type watchedInstance struct {
	plugin.Instance
	of *watched
}

// Handle implements plugin.Instance.
func (i *watchedInstance) Handle(ctx context.Context, call *plugin.Call) (*plugin.Answer, error) {
	if err := i.of.allowed(); err != nil {
		return nil, err
	}
	return i.Instance.Handle(ctx, call)
}

// HandleStrict implements plugin.Strict, where the tier does.
func (i *watchedInstance) HandleStrict(ctx context.Context, call *plugin.Call) (*plugin.Answer, []string, error) {
	if strict, ok := i.Instance.(plugin.Strict); ok {
		return strict.HandleStrict(ctx, call)
	}
	a, err := i.Instance.Handle(ctx, call)
	return a, nil, err
}
