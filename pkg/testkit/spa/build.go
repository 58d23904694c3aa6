// Package spa is real applications, built from the packages that applications of today are built from, and plain sites
// beside them: what a crawler must render, and what it must leave alone. The applications' sources lie under web; they
// are built with Node, from packages of exact versions, when they are needed.
package spa

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed web
var sources embed.FS

// Asked is the environment variable that has tests build the applications: that downloads them from npm's registry,
// which a test does not do unasked.
const Asked = "WHIRLPOOL_TEST_APPS"

// ErrNoNode says that the applications cannot be built here.
var ErrNoNode = errors.New("the applications cannot be built here: they need node and npm")

// Build builds the applications and returns the directory of what came of it, DIR/NAME/assets. What was built before
// from the same sources is used again.
func Build(ctx context.Context) (dir string, err error) {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			return "", fmt.Errorf("%w: %w", ErrNoNode, err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum, err := digest()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, "whirlpool-spa-"+sum)
	dist := filepath.Join(dir, "dist")
	if _, err := os.Stat(filepath.Join(dir, "built")); err == nil {
		return dist, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(cache, "whirlpool-spa-new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := build(ctx, work); err != nil {
		return "", err
	}
	if err := os.Rename(work, dir); err != nil {
		if _, there := os.Stat(filepath.Join(dir, "built")); there != nil { // else another was quicker
			return "", err
		}
	}
	return dist, nil
}

func build(ctx context.Context, work string) error {
	web, err := fs.Sub(sources, "web")
	if err != nil {
		return err
	}
	if err := os.CopyFS(work, web); err != nil {
		return err
	}
	for _, args := range [][]string{{"npm", "install", "--no-audit", "--no-fund", "--loglevel=error"},
		{"node", "build.mjs"}} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = work
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s: %w\n%s", ErrNoNode, args[0], err, out)
		}
	}
	return os.WriteFile(filepath.Join(work, "built"), nil, 0o644)
}

// digest names the sources.
func digest() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := sources.ReadFile(path)
		fmt.Fprintf(h, "%s\n%d\n", path, len(data))
		_, _ = h.Write(data) // cannot fail
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil)[:6]), err
}
