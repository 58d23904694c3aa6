package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// Plugin implements plugin.Source: those that come with the program, and those of the store that may be used.
func (d *Repository) Plugin(ctx context.Context, use, digest string) (plugin.Plugin, error) {
	if p, ok := builtin.Plugin(use); ok {
		if digest != "" {
			return nil, &keyError{"digest", fmt.Sprintf("%s comes with the program and has none: leave it out", use)}
		}
		return p, nil
	}
	if strings.HasPrefix(use, builtin.Owner+"/") {
		return nil, &keyError{"use", fmt.Sprintf("there is no %s: there are %s", use, ownNames())}
	}
	known, err := d.Digest(ctx, use)
	switch {
	case errors.Is(err, ErrUnavailable):
		return nil, err
	case err != nil:
		return nil, &keyError{"use", err.Error()}
	case digest != "" && digest != known:
		return nil, &keyError{"digest",
			fmt.Sprintf("%s has %s here: want the plug-in that the job was written for, or another version", use, known)}
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
func (d *Repository) load(ctx context.Context, use, digest string) (plugin.Plugin, error) {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil, errors.New("the repository of plug-ins is closed")
	}
	l, ok := d.loaded[digest]
	if !ok {
		l = &loading{ready: make(chan struct{})}
		d.loaded[digest] = l
		d.watch() //nolint:contextcheck // until Close
	}
	d.mu.Unlock()
	if !ok {
		l.plugin, l.err = d.loadNow(context.WithoutCancel(ctx), use, digest) // others wait for it, too
		// the next one tries again: it may have been approved by then
		if l.err != nil {
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
	d.ask(ctx, digest, l)
	return l.plugin, l.plugin.allowed()
}

func (d *Repository) loadNow(ctx context.Context, use, digest string) (*watched, error) {
	p, err := d.Package(ctx, digest)
	if err != nil {
		return nil, err
	}
	if got := p.Descriptor.Use(); got != use {
		return nil, &keyError{"use", fmt.Sprintf("the package of %s says that it is %s", use, got)}
	}
	t, err := d.Trust(ctx, p)
	if err != nil {
		return nil, err
	}
	if !t.Usable {
		return nil, &keyError{"use", fmt.Sprintf("%s may not be used: %s", use, t.Wants)}
	}
	loader := d.set.Loaders[p.Descriptor.Tier]
	if loader == nil {
		return nil, &keyError{"use", fmt.Sprintf("%s is of the tier %s, which this program does not run", use,
			p.Descriptor.Tier)}
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
	return &watched{Plugin: made}, nil
}

// unpack writes the files of a program, where they are not there as they should be.
func (d *Repository) unpack(p *Package) (string, error) {
	dir, err := filepath.Abs(filepath.Join(d.dir, "run", hexOf(p.Digest)))
	if err != nil {
		return "", err
	}
	for _, name := range sortedNames(p.files) {
		f, to, mode := p.files[name], filepath.Join(dir, filepath.FromSlash(name)), plainFile
		if f.executable {
			mode = programFile
		}
		if isThere(to, f.data, mode) {
			continue
		}
		if err := writeOver(to, f.data, mode); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func isThere(file string, data []byte, mode fs.FileMode) bool {
	info, err := os.Lstat(file)
	if err != nil || info.Mode() != mode {
		return false
	}
	had, err := os.ReadFile(file)
	return err == nil && string(had) == string(data)
}

// Close closes all plug-ins that were loaded. None is used then.
func (d *Repository) Close() error {
	d.mu.Lock()
	loaded, stop := d.loaded, d.stop
	d.loaded, d.stop, d.closed = map[string]*loading{}, nil, true
	d.mu.Unlock()
	if stop != nil {
		stop()
	}
	var errs []error
	for _, l := range loaded {
		<-l.ready
		if l.err == nil {
			errs = append(errs, l.plugin.Plugin.Close())
		}
	}
	return errors.Join(errs...)
}
