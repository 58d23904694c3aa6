package repo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
)

// Loader makes a plug-in of a package that was verified. dir has the files of a program; it is empty for modules.
type Loader func(ctx context.Context, p *Package, dir string) (plugin.Plugin, error)

// Settings say what may be used.
type Settings struct {
	Loaders   map[plugin.Tier]Loader // by tier; a tier without one cannot be used
	Keys      []string               // minisign public keys; what they signed is trusted
	Processes bool                   // programs may run, where they are approved
	Unsigned  bool                   // plug-ins that nobody vouches for may run: for dry runs and tests
	Now       func() time.Time       // nil: time.Now
	Watch     time.Duration          // between two looks whether a plug-in in use was disabled; 0: 3 s
	Upstream  Upstream               // has what the store does not have; nil: there is none
}

// ErrUnavailable says that a repository cannot be asked just now. It may be there again soon.
var ErrUnavailable = plugin.ErrUnavailable

// Faults that can be told apart.
var (
	ErrTaken     = errors.New("a version never changes")             // the name is there with other content
	ErrUnknown   = errors.New("there is no such plug-in")            // by name or by digest
	ErrSignature = errors.New("the signature cannot be relied upon") // of a package that is pushed
)

// fault is an error of a kind, with words of its own.
type fault struct {
	kind error
	text string
}

// Error implements error.
func (f *fault) Error() string { return f.text }

// Unwrap is for errors.Is.
func (f *fault) Unwrap() error { return f.kind }

func faultOf(kind error, format string, args ...any) error {
	return &fault{kind, fmt.Sprintf(format, args...)}
}

// Repository is a repository over a Store. Several programs may use one store at a time. It is safe for concurrent use.
type Repository struct {
	store Store
	dir   string // of this machine: files of programs
	set   Settings
	keys  []key

	mu     sync.Mutex
	loaded map[string]*loading // by digest
	stop   func()              // ends the watch; nil: there is none yet
	closed bool
}

// Open opens a repository in a directory, which is made with the first plug-in.
func Open(dir string, set Settings) (*Repository, error) { return New(Files(dir), dir, set) }

// New opens a repository over a store, with a directory of this machine for the files of programs.
func New(store Store, dir string, set Settings) (*Repository, error) {
	if set.Now == nil {
		set.Now = time.Now
	}
	if set.Watch <= 0 {
		set.Watch = watchEvery
	}
	d := &Repository{store: store, dir: dir, set: set, loaded: map[string]*loading{}}
	for i, text := range set.Keys {
		k, err := parseKey(text)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		d.keys = append(d.keys, k)
	}
	return d, nil
}

// named is what a file of names/ says.
type named struct {
	Digest string    `json:"digest"`
	Pushed time.Time `json:"pushed"`
}

// Push keeps a package. signature is a minisign signature of its bytes; empty: none. Pushing the same again changes
// nothing, but may add the signature. The name comes last: a push that was cut off leaves nothing that is seen, and can
// be made again.
func (d *Repository) Push(ctx context.Context, p *Package, signature []byte) error {
	had, err := d.named(ctx, p.Descriptor.Use())
	switch {
	case err == nil && had.Digest != p.Digest:
		return faultOf(ErrTaken, "%s is there already with other content (%s): a version never changes: give it another in "+
			"plugin.toml",
			p.Descriptor.Use(), had.Digest)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if len(signature) > 0 {
		if err := d.sign(ctx, p, signature); err != nil {
			return err
		}
	}
	if err := d.keep(ctx, p); err != nil {
		return err
	}
	text, err := json.Marshal(named{p.Digest, d.set.Now().UTC()})
	if err != nil {
		return err
	}
	switch err := d.store.Add(ctx, nameName(p.Descriptor.Use()), text); {
	case errors.Is(err, fs.ErrExist): // somebody was faster, or it is there
		if had, err := d.named(ctx, p.Descriptor.Use()); err != nil || had.Digest != p.Digest {
			return errors.Join(faultOf(ErrTaken, "%s is there already with other content: give it another version",
				p.Descriptor.Use()), err)
		}
		return nil
	default:
		return err
	}
}

// keep stores the bytes of a package. What a fault of the store made of those that are there is mended.
func (d *Repository) keep(ctx context.Context, p *Package) error {
	err := d.store.Add(ctx, packageName(p.Digest), p.Bytes)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	had, err := d.store.Get(ctx, packageName(p.Digest))
	if err == nil && DigestOf(had) == p.Digest {
		return nil
	}
	return d.store.Set(ctx, packageName(p.Digest), p.Bytes)
}

// named says what a name means; fs.ErrNotExist: nothing.
func (d *Repository) named(ctx context.Context, use string) (n named, err error) {
	if !validUse.MatchString(use) {
		return n, faultOf(ErrUnknown, "%q: want OWNER/NAME@VERSION, as in shop/price@1.2.0", use)
	}
	return n, d.get(ctx, nameName(use), &n)
}

// get reads a value of JSON.
func (d *Repository) get(ctx context.Context, name string, to any) error {
	data, err := d.store.Get(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return away(d.store, err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s of %s: %w", name, d.store, err)
	}
	return nil
}

// Digest returns the digest of a name OWNER/NAME@VERSION. A package that only the registry has is taken from there.
func (d *Repository) Digest(ctx context.Context, use string) (string, error) {
	n, err := d.find(ctx, use)
	if errors.Is(err, fs.ErrNotExist) {
		return "", d.unknown(ctx, use)
	}
	return n.Digest, err
}

// Package reads the package of a digest, and verifies it.
func (d *Repository) Package(ctx context.Context, digest string) (*Package, error) {
	if !validDigest.MatchString(digest) {
		return nil, fmt.Errorf("digest %q: want sha256: and 64 digits of 0-9 and a-f", digest)
	}
	data, err := d.store.Get(ctx, packageName(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, faultOf(ErrUnknown, "there is no plug-in with the digest %s in %s", digest, d.store)
	}
	if err != nil {
		return nil, away(d.store, err)
	}
	if got := DigestOf(data); got != digest {
		return nil, fmt.Errorf("the package %s of %s has been changed: its digest is %s now; push it again",
			packageName(digest), d.store, got)
	}
	return Read(data)
}

// Item is a plug-in of a list.
type Item struct {
	Descriptor *plugin.Descriptor `json:"descriptor"`
	Digest     string             `json:"digest,omitempty"` // built-in ones have none
	Pushed     time.Time          `json:"pushed,omitzero"`
	Trust      Trust              `json:"trust"`
}

// List returns all plug-ins, by name and version. What cannot be read is told beside them.
func (d *Repository) List(ctx context.Context) (items []Item, err error) {
	names, err := d.store.Names(ctx, namesDir)
	if err != nil {
		return nil, away(d.store, err)
	}
	var errs []error
	for _, name := range names {
		use, ok := useOf(name)
		if !ok {
			continue // a file of somebody else
		}
		item, err := d.Show(ctx, use)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", use, err))
			continue
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b Item) int { return compareUse(a.Descriptor, b.Descriptor) })
	return items, errors.Join(errs...)
}

// Show returns one plug-in of the store.
func (d *Repository) Show(ctx context.Context, use string) (Item, error) {
	n, err := d.named(ctx, use)
	if errors.Is(err, fs.ErrNotExist) {
		return Item{}, d.unknown(ctx, use)
	}
	if err != nil {
		return Item{}, err
	}
	p, err := d.Package(ctx, n.Digest)
	if err != nil {
		return Item{}, err
	}
	if got := p.Descriptor.Use(); got != use {
		return Item{}, fmt.Errorf("the package of %s says that it is %s", use, got)
	}
	t, err := d.Trust(ctx, p)
	return Item{p.Descriptor, n.Digest, n.Pushed, t}, err
}

// unknown is the error for a name that is not there, with the versions that are.
func (d *Repository) unknown(ctx context.Context, use string) error {
	name, _, _ := strings.Cut(use, "@")
	found, err := d.store.Names(ctx, namesDir+name+"/")
	if err != nil {
		return away(d.store, err)
	}
	versions, err := d.versionsAbove(ctx, name)
	if err != nil {
		return err
	}
	for _, f := range found {
		versions = append(versions, strings.TrimPrefix(f, namesDir+name+"/"))
	}
	if slices.Sort(versions); len(versions) > 0 {
		versions = slices.Compact(versions)
		return faultOf(ErrUnknown, "there is no plug-in %s: of %s there are %s", use, name, strings.Join(versions, ", "))
	}
	return faultOf(ErrUnknown, "there is no plug-in %s: `whirlpool plugin list` shows what there is, `whirlpool plugin "+
		"push` adds one", use)
}

// BuiltIn returns the plug-ins that come with the program.
func BuiltIn() (items []Item) {
	for _, own := range builtin.All() {
		items = append(items, Item{Descriptor: own, Trust: Trust{Level: OwnCode, Usable: true}})
	}
	return items
}

// All returns what jobs may name: the plug-ins that come with the program, and those of List.
func (d *Repository) All(ctx context.Context) (items []Item, err error) {
	list, err := d.List(ctx)
	return append(BuiltIn(), list...), err
}
