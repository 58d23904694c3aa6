//go:build linux

package browser

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

func TestNoBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := New(t.Context(), Config{}); !errors.Is(err, ErrNoBrowser) {
		t.Errorf("nothing in PATH: %v", err)
	}
	if _, err := New(t.Context(), Config{Path: "/no/such/browser"}); !errors.Is(err, ErrNoBrowser) {
		t.Errorf("a path of nothing: %v", err)
	}
	if _, err := New(t.Context(), Config{Path: os.Args[0], Isolation: "none"}); err == nil {
		t.Error("an isolation that there is none of was taken")
	}
}

// A browser that does not start rests, longer each time; what cannot work is told apart.
func TestFailuresRest(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	program := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cfg := Config{Path: program("dies", "kill -9 $$"), Dir: dir, Isolation: Proxy}
	cfg, err := cfg.filled()
	if err != nil {
		t.Fatal(err)
	}
	all, err := modes(cfg)
	if err != nil {
		t.Skip("not tested: ", err)
	}
	c := &Chromium{cfg: cfg, modes: all, slots: semaphore.NewWeighted(1)}
	request := render.Request{URL: "http://a.test/"}
	for _, want := range []time.Duration{5, 10, 20} {
		at := time.Now()
		_, err := c.Render(t.Context(), request, nil)
		if err == nil || errors.As(err, new(*RestingError)) || errors.As(err, new(*UnavailableError)) {
			t.Errorf("a browser that is killed at its start: %v", err)
		}
		var resting *RestingError
		if _, err = c.Render(t.Context(), request, nil); !errors.As(err, &resting) || resting.Err == nil {
			t.Fatalf("it does not rest: %v", err)
		}
		if rests := resting.Until.Sub(at); rests < want*time.Second {
			t.Errorf("it rests %s, want %s", rests, want*time.Second)
		}
		c.rests = time.Time{}
	}
	c.failures = 40
	c.broken(t.Context(), err)
	if rests := time.Until(c.rests); rests > longestRest {
		t.Errorf("it rests %s", rests)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Render(t.Context(), request, nil); !errors.Is(err, errClosed) {
		t.Errorf("closed: %v", err)
	}
	_, err = New(t.Context(), Config{Path: program("refuses", "echo No usable sandbox! >&2; exit 1"), Dir: dir,
		Isolation: Proxy})
	if !errors.As(err, new(*UnavailableError)) {
		t.Errorf("a browser that says that it cannot: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, profilePrefix+"*"))
	if len(left) > 0 {
		t.Errorf("profiles are left: %q", left)
	}
}
