package repo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
}

// Directory is a repository in a directory. Several programs may use one at a time. It is safe for concurrent use.
type Directory struct {
	dir  string
	set  Settings
	keys []key

	mu     sync.Mutex
	loaded map[string]*loading // by digest
}

// Open opens a repository; the directory is made with the first plug-in.
func Open(dir string, set Settings) (*Directory, error) {
	if set.Now == nil {
		set.Now = time.Now
	}
	d := &Directory{dir: dir, set: set, loaded: map[string]*loading{}}
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
// nothing, but may add the signature.
func (d *Directory) Push(p *Package, signature []byte) error {
	had, err := d.named(p.Descriptor.Use())
	switch {
	case err == nil && had.Digest != p.Digest:
		return fmt.Errorf("%s is there already with other content (%s): a version never changes: give it another in plugin.toml",
			p.Descriptor.Use(), had.Digest)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if len(signature) > 0 {
		if err := d.sign(p, signature); err != nil {
			return err
		}
	}
	if err := writeNew(d.packageFile(p.Digest), p.Bytes); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	text, err := json.Marshal(named{p.Digest, d.set.Now().UTC()})
	if err != nil {
		return err
	}
	switch err := writeNew(d.nameFile(p.Descriptor.Use()), text); {
	case errors.Is(err, fs.ErrExist): // somebody was faster, or it is there
		if had, err := d.named(p.Descriptor.Use()); err != nil || had.Digest != p.Digest {
			return errors.Join(fmt.Errorf("%s is there already with other content: give it another version", p.Descriptor.Use()), err)
		}
		return nil
	default:
		return err
	}
}

func hexOf(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

func (d *Directory) packageFile(digest string) string {
	return filepath.Join(d.dir, "packages", hexOf(digest)+packageSuffix)
}

func (d *Directory) nameFile(use string) string {
	name, version, _ := strings.Cut(use, "@")
	return filepath.Join(d.dir, "names", filepath.FromSlash(name), version)
}

// named says what a name means; fs.ErrNotExist: nothing.
func (d *Directory) named(use string) (n named, err error) {
	if !validUse.MatchString(use) {
		return n, fmt.Errorf("%q: want OWNER/NAME@VERSION, as in shop/price@1.2.0", use)
	}
	return n, readJSON(d.nameFile(use), &n)
}

// Digest returns the digest of a name OWNER/NAME@VERSION.
func (d *Directory) Digest(use string) (string, error) {
	n, err := d.named(use)
	if errors.Is(err, fs.ErrNotExist) {
		return "", d.unknown(use)
	}
	return n.Digest, err
}

// Package reads the package of a digest, and verifies it.
func (d *Directory) Package(digest string) (*Package, error) {
	if !validDigest.MatchString(digest) {
		return nil, fmt.Errorf("digest %q: want sha256: and 64 digits of 0-9 and a-f", digest)
	}
	data, err := os.ReadFile(d.packageFile(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no plug-in with the digest %s in %s", digest, d.dir)
	}
	if err != nil {
		return nil, err
	}
	if got := DigestOf(data); got != digest {
		return nil, fmt.Errorf("the package %s has been changed: its digest is %s now; remove it and push it again", d.packageFile(digest), got)
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
func (d *Directory) List() (items []Item, err error) {
	files, globErr := filepath.Glob(filepath.Join(d.dir, "names", "*", "*", "*"))
	errs := []error{globErr}
	for _, f := range files {
		rel, err := filepath.Rel(filepath.Join(d.dir, "names"), f)
		use := filepath.ToSlash(filepath.Dir(rel)) + "@" + filepath.Base(rel)
		if err != nil || !validUse.MatchString(use) {
			continue // a file of somebody else, or one that is being written
		}
		item, err := d.Show(use)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", use, err))
			continue
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b Item) int { return compareUse(a.Descriptor, b.Descriptor) })
	return items, errors.Join(errs...)
}

// Show returns one plug-in.
func (d *Directory) Show(use string) (Item, error) {
	n, err := d.named(use)
	if errors.Is(err, fs.ErrNotExist) {
		return Item{}, d.unknown(use)
	}
	if err != nil {
		return Item{}, err
	}
	p, err := d.Package(n.Digest)
	if err != nil {
		return Item{}, err
	}
	if got := p.Descriptor.Use(); got != use {
		return Item{}, fmt.Errorf("the package of %s says that it is %s", use, got)
	}
	t, err := d.Trust(p)
	return Item{p.Descriptor, n.Digest, n.Pushed, t}, err
}

// unknown is the error for a name that is not there, with the versions that are.
func (d *Directory) unknown(use string) error {
	name, _, _ := strings.Cut(use, "@")
	var versions []string
	if strings.Count(name, "/") == 1 {
		found, _ := filepath.Glob(filepath.Join(d.dir, "names", filepath.FromSlash(name), "*")) // a bad pattern finds none
		for _, f := range found {
			if v := filepath.Base(f); !strings.HasPrefix(v, ".") {
				versions = append(versions, v)
			}
		}
	}
	if len(versions) > 0 {
		return fmt.Errorf("there is no plug-in %s: of %s there are %s", use, name, strings.Join(versions, ", "))
	}
	return fmt.Errorf("there is no plug-in %s: `whirlpool plugin list` shows what there is, `whirlpool plugin push` adds one", use)
}

// All returns what jobs may name: the plug-ins that come with the program, and those of List.
func (d *Directory) All() (items []Item, err error) {
	for _, own := range builtin.All() {
		items = append(items, Item{Descriptor: own, Trust: Trust{Level: OwnCode, Usable: true}})
	}
	list, err := d.List()
	return append(items, list...), err
}
