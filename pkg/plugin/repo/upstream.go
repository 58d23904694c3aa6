package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Upstream is a registry that a repository takes packages from. It is safe for concurrent use.
type Upstream interface {
	// Fetch returns the package of a name OWNER/NAME@VERSION, and a minisign signature of its bytes; empty: there is none.
	// The error is fs.ErrNotExist where there is no such package, and ErrUnavailable where the registry cannot be asked
	// just now. The package may say of itself that it is another.
	Fetch(ctx context.Context, use string) (p *Package, signature []byte, err error)
	// Versions returns the versions of OWNER/NAME, in no order; none where it does not know the name.
	Versions(ctx context.Context, name string) ([]string, error)
	// String says where it is, for people.
	String() string
}

// Fetched is a package of a registry that is not in the repository yet.
type Fetched struct {
	*Package
	Signature []byte // nobody has verified it
}

// Fetch fetches a package, and finds out whether it is what its name says.
func Fetch(ctx context.Context, from Upstream, use string) (*Fetched, error) {
	p, signature, err := from.Fetch(ctx, use)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, faultOf(ErrUnknown, "there is no plug-in %s in %s", use, from)
	case err != nil:
		return nil, err
	}
	if got := p.Descriptor.Use(); got != use {
		return nil, fmt.Errorf("what %s has as %s says that it is %s: nothing is taken", from, use, got)
	}
	return &Fetched{p, signature}, nil
}

// Keep puts what was fetched into the repository. From then on its name means these bytes, whatever the registry has. A
// signature of a key that is not in the settings is not kept: nobody here relies on it.
func (d *Repository) Keep(ctx context.Context, f *Fetched) error {
	signature := f.Signature
	if !d.knows(signature) {
		signature = nil
	}
	return d.Push(ctx, f.Package, signature)
}

// find is named, but what the store does not have it takes from the registry.
func (d *Repository) find(ctx context.Context, use string) (named, error) {
	n, err := d.named(ctx, use)
	if d.set.Upstream == nil || !errors.Is(err, fs.ErrNotExist) {
		return n, err
	}
	f, err := Fetch(ctx, d.set.Upstream, use)
	switch {
	case errors.Is(err, ErrUnknown):
		return named{}, fs.ErrNotExist
	case err != nil:
		return named{}, err
	}
	if err := d.Keep(ctx, f); err != nil {
		return named{}, err
	}
	return d.named(ctx, use)
}

// versionsAbove are the versions of a name that the registry has.
func (d *Repository) versionsAbove(ctx context.Context, name string) ([]string, error) {
	if d.set.Upstream == nil {
		return nil, nil
	}
	return d.set.Upstream.Versions(ctx, name)
}
