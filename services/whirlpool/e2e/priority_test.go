package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"
)

// requestLog is what a server was asked for, in order, and when.
type requestLog struct {
	mu         sync.Mutex
	paths      []string
	start, end []time.Time
}

func (l *requestLog) serve(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		w.Header().Set("Content-Type", "text/html")
		answer(w, r)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.paths, l.start, l.end = append(l.paths, r.URL.Path), append(l.start, start), append(l.end, time.Now())
	}))
	t.Cleanup(srv.Close)
	return srv
}

// A page that stands last in a long queue, and that all others link to, is fetched long before its first turn.
func TestPageFoundAgainComesEarlier(t *testing.T) {
	long(t)
	const pages = 3000
	var l requestLog
	srv := l.serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			http.NotFound(w, r)
		case "/":
			for i := range pages {
				fmt.Fprintf(w, "<a href=/p/%d>%d</a> ", i, i)
			}
			fmt.Fprint(w, "<a href=/often>often</a>")
		default:
			fmt.Fprintf(w, "<title>%s</title>page %s <a href=/often>often</a> <a href=/>home</a>", r.URL.Path, r.URL.Path)
		}
	})
	dir := filepath.Join(t.TempDir(), "out")
	if got := run(t, "crawl", srv.URL+"/", "--allow-private", "--delay", "0s", "--no-sitemaps", "--quiet", "-o",
		dir); got.exit != 0 {
		t.Fatalf("exit status %d: %s", got.exit, got.stderr)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.paths, "/often")
	if at < 0 || at > pages/2 {
		t.Errorf("the page that all pages link to was request %d of %d", at, len(l.paths))
	}
	if n := len(l.paths); n != pages+3 {
		t.Errorf("%d requests, want %d: nothing is fetched twice for it", n, pages+3)
	}
	t.Logf("the page that all pages link to was request %d of %d", at, len(l.paths))
	why := regexp.MustCompile(`priority 3: found again 4 times|priority 4: found again 16 times|priority 5: found again 64 times`)
	// how often is a matter of pace
	if got := run(t, "explain", "-o", dir, srv.URL+"/often"); !why.MatchString(got.stdout) {
		t.Errorf("explain does not say why it came first:\n%s", got.stdout)
	}
}

// By the preset mercator a host rests 10 times as long as its last answer took, by the server's log.
func TestMercatorPoliteness(t *testing.T) {
	long(t)
	const slow = 40 * time.Millisecond
	var l requestLog
	srv := l.serve(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(slow)
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, "<title>page</title>", r.URL.Path, " <a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a>")
	})
	dir := filepath.Join(t.TempDir(), "out")
	if got := run(t, "crawl", srv.URL+"/", "--allow-private", "--politeness", "mercator", "--no-sitemaps", "--quiet", "-o",
		dir); got.exit != 0 {
		t.Fatalf("exit status %d: %s", got.exit, got.stderr)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.paths) != 5 {
		t.Fatalf("%d requests, want 5: %q", len(l.paths), l.paths)
	}
	for i := 1; i < len(l.paths); i++ {
		if gap := l.start[i].Sub(l.end[i-1]); gap < 10*slow {
			t.Errorf("%s was asked for %v after %s had been answered, want %v at least", l.paths[i], gap, l.paths[i-1], 10*slow)
		}
	}
}
