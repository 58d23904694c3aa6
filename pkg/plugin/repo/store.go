package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Store keeps what a repository is made of: values by names such as names/shop/price/1.0.0. Several programs may use
// one at a time; it is safe for concurrent use. Its suite is pkg/testkit/repotest.
type Store interface {
	// Get returns a value. The error is fs.ErrNotExist where there is none.
	Get(ctx context.Context, name string) ([]byte, error)
	// Add stores a value that is not there yet, whole or not at all, and durably. The error is fs.ErrExist where there is
	// one: of those that add under one name at a time, one succeeds.
	Add(ctx context.Context, name string, data []byte) error
	// Set stores a value as Add does, over the one that may be there.
	Set(ctx context.Context, name string, data []byte) error
	// Names returns the names that begin with prefix, in their order.
	Names(ctx context.Context, prefix string) ([]string, error)
	// String says where it is, for people.
	String() string
}

// Files is a Store in a directory, which is made with the first value.
type Files string

var _ Store = Files("")

// String implements Store.
func (f Files) String() string { return string(f) }

func (f Files) file(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

// Get implements Store.
func (f Files) Get(_ context.Context, name string) ([]byte, error) { return os.ReadFile(f.file(name)) }

// Add implements Store.
func (f Files) Add(_ context.Context, name string, data []byte) error {
	return writeNew(f.file(name), data)
}

// Set implements Store.
func (f Files) Set(_ context.Context, name string, data []byte) error {
	return writeOver(f.file(name), data, plainFile)
}

// Names implements Store. What is being written has a name with a dot.
func (f Files) Names(_ context.Context, prefix string) (names []string, err error) {
	from := f.file(prefix[:strings.LastIndexByte(prefix, '/')+1])
	err = filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() || strings.HasPrefix(e.Name(), "."):
			return nil
		}
		rel, err := filepath.Rel(string(f), file)
		if name := filepath.ToSlash(rel); err == nil && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

// Cached is a Store whose packages are kept in a directory of this machine, too: each is fetched once, and its digest
// is verified whenever it is read. A directory that cannot be written makes it slower and nothing else.
func Cached(s Store, dir string) Store { return &cached{Store: s, at: Files(dir)} }

type cached struct {
	Store
	at Files
}

// Get implements Store.
func (c *cached) Get(ctx context.Context, name string) ([]byte, error) {
	digest, ok := digestOfPackage(name)
	if !ok {
		return c.Store.Get(ctx, name)
	}
	if data, err := c.at.Get(ctx, name); err == nil && DigestOf(data) == digest {
		return data, nil
	}
	data, err := c.Store.Get(ctx, name)
	if err == nil && DigestOf(data) == digest {
		_ = c.at.Set(ctx, name, data) // the next program fetches it again
	}
	return data, err
}

// The names of what a repository keeps.

func packageName(digest string) string { return packagesDir + hexOf(digest) + packageSuffix }

func signatureName(digest string) string { return "signatures/" + hexOf(digest) + signatureSuffix }

func trustName(digest string) string { return "trust/" + hexOf(digest) }

func nameName(use string) string {
	name, version, _ := strings.Cut(use, "@")
	return namesDir + name + "/" + version
}

const (
	packagesDir = "packages/"
	namesDir    = "names/"
)

// useOf is the plug-in of a name that nameName made.
func useOf(name string) (use string, ok bool) {
	rest, ok := strings.CutPrefix(name, namesDir)
	at := strings.LastIndexByte(rest, '/')
	if !ok || at < 0 {
		return "", false
	}
	use = rest[:at] + "@" + rest[at+1:]
	return use, validUse.MatchString(use)
}

func digestOfPackage(name string) (digest string, ok bool) {
	rest, ok := strings.CutPrefix(name, packagesDir)
	digest = "sha256:" + strings.TrimSuffix(rest, packageSuffix)
	return digest, ok && validDigest.MatchString(digest)
}

func hexOf(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// away says that a store failed: what was asked for may be there all the same.
func away(s Store, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, s, err)
}
