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

// Who answers what a page asks for.
func TestPolicy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		method, kind, url string
		want, pictured    actionKind
	}{
		{"GET", "Document", "http://a.test/f", askServe, askServe},
		{"GET", "Script", "https://a.test/a.js", askServe, askServe},
		{"GET", "XHR", "https://a.test/api?x=favicon.ico", askServe, askServe},
		{"GET", "Fetch", "https://a.test/api", askServe, askServe},
		{"GET", "Other", "https://a.test/w.js", askServe, askServe},
		{"POST", "XHR", "https://a.test/api", refuse, refuse},
		{"PUT", "Fetch", "https://a.test/api", refuse, refuse},
		{"HEAD", "Fetch", "https://a.test/api", refuse, refuse},
		{"OPTIONS", "Fetch", "https://a.test/api", refuse, refuse},
		{"OPTIONS", "Preflight", "https://a.test/api", preflight, preflight},
		{"GET", "Image", "https://a.test/i", refuse, askServe},
		{"GET", "Font", "https://a.test/f", refuse, askServe},
		{"GET", "Stylesheet", "https://a.test/s", empty, askServe},
		{"GET", "Media", "https://a.test/m", refuse, refuse},
		{"GET", "TextTrack", "https://a.test/m", refuse, refuse},
		{"GET", "Ping", "https://a.test/p", refuse, refuse},
		{"GET", "Manifest", "https://a.test/m", refuse, refuse},
		{"GET", "Prefetch", "https://a.test/p", refuse, refuse},
		{"GET", "EventSource", "https://a.test/e", refuse, refuse},
		{"GET", "CSPViolationReport", "https://a.test/c", refuse, refuse},
		{"GET", "Other", "https://a.test/favicon.ico", refuse, refuse},
		{"GET", "Script", "data:text/javascript,1", leave, leave},
		{"POST", "Image", "blob:https://a.test/1", leave, leave},
		{"GET", "Document", "about:blank", leave, leave},
		{"GET", "Document", "file:///etc/passwd", refuse, refuse},
		{"GET", "Document", "chrome://version", refuse, refuse},
		{"GET", "Document", "ftp://a.test/", refuse, refuse},
		{"GET", "Document", "view-source:http://a.test/", refuse, refuse},
		{"GET", "Script", "http://[a", refuse, refuse},
	} {
		sub := render.Sub{URL: test.url, Method: test.method, Type: test.kind}
		if got := policy(sub, false); got.kind != test.want || (got.kind == refuse) != (got.fail == blocked) {
			t.Errorf("%+v: %+v, want %d", sub, got, test.want)
		}
		if got := policy(sub, true); got.kind != test.pictured {
			t.Errorf("%+v with a picture: %+v, want %d", sub, got, test.pictured)
		}
	}
}

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
	_, err = New(t.Context(), Config{Path: program("refuses", "echo No usable sandbox! >&2; exit 1"), Dir: dir, Isolation: Proxy})
	if !errors.As(err, new(*UnavailableError)) {
		t.Errorf("a browser that says that it cannot: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, profilePrefix+"*"))
	if len(left) > 0 {
		t.Errorf("profiles are left: %q", left)
	}
}
