package repo_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

// counting counts the packages that are fetched.
type counting struct {
	repo.Store
	fetched atomic.Int64
}

func (c *counting) Get(ctx context.Context, name string) ([]byte, error) {
	if strings.HasPrefix(name, "packages/") {
		c.fetched.Add(1)
	}
	return c.Store.Get(ctx, name)
}

// A node fetches a package once, verifies what it kept, and goes without a cache that does not work.
func TestPackagesAreFetchedOnce(t *testing.T) {
	ctx := t.Context()
	s, cache := &counting{Store: repo.Files(t.TempDir())}, t.TempDir()
	p := pack(t, toml, "one")
	name := "packages/" + strings.TrimPrefix(p.Digest, "sha256:") + ".tar"
	if err := s.Add(ctx, name, p.Bytes); err != nil {
		t.Fatal(err)
	}
	get := func(dir string, want int64) {
		t.Helper()
		s.fetched.Store(0)
		got, err := repo.Cached(s, dir).Get(ctx, name)
		if err != nil || !bytes.Equal(got, p.Bytes) || s.fetched.Load() != want {
			t.Errorf("%d bytes, %v, fetched %d times; want %d", len(got), err, s.fetched.Load(), want)
		}
	}
	get(cache, 1)
	get(cache, 0)
	kept := filepath.Join(cache, filepath.FromSlash(name))
	if err := os.WriteFile(kept, append(bytes.Clone(p.Bytes), 0), 0o600); err != nil {
		t.Fatal(err)
	}
	get(cache, 1) // what was kept has been changed
	get(cache, 0)
	none := filepath.Join(kept, "below a file") // a directory that cannot be made, as on a disk that is full
	get(none, 1)
	get(none, 1)
	if err := s.Set(ctx, name, []byte("something else")); err != nil {
		t.Fatal(err)
	}
	get(cache, 0)
	if got, err := repo.Cached(s, filepath.Join(cache, "new")).Get(ctx, name); err != nil ||
		string(got) != "something else" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(cache, "new")); err == nil {
		t.Error("bytes of another digest are kept")
	}
}
