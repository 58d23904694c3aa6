package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
)

// ErrDisabled is the failure of a plug-in that was disabled while it was in use.
var ErrDisabled = errors.New("it was disabled")

// loading is a plug-in that is loaded, or being loaded.
type loading struct {
	ready  chan struct{}
	plugin *watched
	err    error
}

// Plugin implements plugin.Source: those that come with the program, and those of the directory that may be used.
func (d *Directory) Plugin(ctx context.Context, use, digest string) (plugin.Plugin, error) {
	if p, ok := builtin.Plugin(use); ok {
		if digest != "" {
			return nil, &keyError{"digest", fmt.Sprintf("%s comes with the program and has none: leave it out", use)}
		}
		return p, nil
	}
	if strings.HasPrefix(use, builtin.Owner+"/") {
		return nil, &keyError{"use", fmt.Sprintf("there is no %s: there are %s", use, ownNames())}
	}
	known, err := d.Digest(use)
	switch {
	case err != nil:
		return nil, &keyError{"use", err.Error()}
	case digest != "" && digest != known:
		return nil, &keyError{"digest", fmt.Sprintf("%s has %s here: want the plug-in that the job was written for, or another version", use, known)}
	}
	return d.load(ctx, use, known)
}

// keyError is a fault of what a node says of its plug-in.
type keyError struct{ key, text string }

// Error implements error.
func (e *keyError) Error() string { return e.key + ": " + e.text }

func ownNames() string {
	names := make([]string, 0, len(builtin.All()))
	for _, d := range builtin.All() {
		names = append(names, d.Use())
	}
	return strings.Join(names, ", ")
}

// load loads a plug-in once, where it may be used.
func (d *Directory) load(ctx context.Context, use, digest string) (plugin.Plugin, error) {
	d.mu.Lock()
	l, ok := d.loaded[digest]
	if !ok {
		l = &loading{ready: make(chan struct{})}
		d.loaded[digest] = l
	}
	d.mu.Unlock()
	if !ok {
		l.plugin, l.err = d.loadNow(context.WithoutCancel(ctx), use, digest) // others wait for it, too
		if l.err != nil {                                                    // the next one tries again: it may have been approved by then
			d.mu.Lock()
			delete(d.loaded, digest)
			d.mu.Unlock()
		}
		close(l.ready)
	}
	select {
	case <-l.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if l.err != nil {
		return nil, l.err
	}
	return l.plugin, l.plugin.allowed()
}

func (d *Directory) loadNow(ctx context.Context, use, digest string) (*watched, error) {
	p, err := d.Package(digest)
	if err != nil {
		return nil, err
	}
	if got := p.Descriptor.Use(); got != use {
		return nil, &keyError{"use", fmt.Sprintf("the package of %s says that it is %s", use, got)}
	}
	t, err := d.Trust(p)
	if err != nil {
		return nil, err
	}
	if !t.Usable {
		return nil, &keyError{"use", fmt.Sprintf("%s may not be used: %s", use, t.Wants)}
	}
	loader := d.set.Loaders[p.Descriptor.Tier]
	if loader == nil {
		return nil, &keyError{"use", fmt.Sprintf("%s is of the tier %s, which this program does not run", use, p.Descriptor.Tier)}
	}
	dir := ""
	if p.Descriptor.Tier == plugin.Process {
		if dir, err = d.unpack(p); err != nil {
			return nil, err
		}
	}
	made, err := loader(ctx, p, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", use, err)
	}
	return &watched{Plugin: made, repo: d, digest: digest}, nil
}

// unpack writes the files of a program, where they are not there as they should be.
func (d *Directory) unpack(p *Package) (string, error) {
	dir, err := filepath.Abs(filepath.Join(d.dir, "run", hexOf(p.Digest)))
	if err != nil {
		return "", err
	}
	for _, name := range sortedNames(p.files) {
		f, to := p.files[name], filepath.Join(dir, filepath.FromSlash(name))
		if had, err := os.ReadFile(to); err == nil && string(had) == string(f.data) {
			continue
		}
		if err := writeOver(to, f.data); err != nil {
			return "", err
		}
		if f.executable {
			if err := os.Chmod(to, 0o755); err != nil { //nolint:gosec // a program
				return "", err
			}
		}
	}
	return dir, nil
}

// Close closes all plug-ins that were loaded. None is used then.
func (d *Directory) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for digest, l := range d.loaded {
		<-l.ready
		if l.err == nil {
			errs = append(errs, l.plugin.Plugin.Close())
		}
		delete(d.loaded, digest)
	}
	return errors.Join(errs...)
}

// watched is a plug-in that fails once it was disabled. Who uses it does not close it: others may use it too.
type watched struct {
	plugin.Plugin
	repo   *Directory
	digest string

	asked atomic.Int64 // when it was asked last whether it is disabled, in nanoseconds
	off   atomic.Bool
	mu    sync.Mutex
}

// watchEvery is how often it is asked whether a plug-in was disabled.
const watchEvery = 2 * time.Second

// allowed returns ErrDisabled where the plug-in was disabled.
func (w *watched) allowed() error {
	now := w.repo.set.Now().UnixNano()
	if last := w.asked.Load(); now-last > int64(watchEvery) && w.mu.TryLock() {
		if said, err := w.repo.word(w.digest); err == nil {
			w.off.Store(said.Level == Disabled)
		}
		w.asked.Store(now)
		w.mu.Unlock()
	}
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
