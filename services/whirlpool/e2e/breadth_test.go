package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// levelWeb is a web of numbered pages on two hosts, of which one is slow. Page n links to 3n+1, 3n+2 and 3n+3, back,
// and far ahead where n is a multiple of 50; some are busy when they are asked for first, some have moved.
type levelWeb struct {
	pages   int
	servers [2]*httptest.Server
	ready   chan struct{} // closed when both are there
	mu      sync.Mutex
	log     []levelEntry
	busy    map[int]bool
}

type levelEntry struct {
	page       int
	path       string
	start, end time.Time
}

func serveLevels(t *testing.T, pages int) *levelWeb {
	t.Helper()
	w := &levelWeb{pages: pages, busy: map[int]bool{}, ready: make(chan struct{})}
	for i := range w.servers {
		w.servers[i] = httptest.NewServer(w)
		t.Cleanup(w.servers[i].Close)
	}
	close(w.ready)
	return w
}

func (w *levelWeb) url(n int) string { return fmt.Sprintf("%s/p/%d", w.servers[n%2].URL, n) }

func (w *levelWeb) links(n int) (to []int) {
	for _, m := range []int{3*n + 1, 3*n + 2, 3*n + 3, n / 7} {
		if m < w.pages {
			to = append(to, m)
		}
	}
	if n%50 == 0 && n+w.pages/2 < w.pages {
		to = append(to, n+w.pages/2)
	}
	return to
}

// ServeHTTP implements http.Handler.
func (w *levelWeb) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	<-w.ready
	var n int
	if _, err := fmt.Sscanf(strings.TrimPrefix(r.URL.Path, "/moved"), "/p/%d", &n); err != nil {
		http.NotFound(to, r)
		return
	}
	start := time.Now()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.log = append(w.log, levelEntry{n, r.URL.Path, start, time.Now()})
	}()
	w.mu.Lock()
	first := !w.busy[n]
	w.busy[n] = true
	w.mu.Unlock()
	switch {
	case n%2 == 1:
		time.Sleep(3 * time.Millisecond) // the slow host
	case n%250 == 8 && first:
		to.Header().Set("Retry-After", "1")
		to.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if n%30 == 4 && !strings.HasPrefix(r.URL.Path, "/moved") {
		http.Redirect(to, r, "/moved"+r.URL.Path, http.StatusFound)
		return
	}
	to.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(to, "<title>page %d</title>", n)
	for _, m := range w.links(n) {
		fmt.Fprintf(to, "<a href=%q>page %d</a> ", w.url(m), m)
	}
}

// depths are how far the pages are from page 0.
func (w *levelWeb) depths() map[int]int {
	d := map[int]int{0: 0}
	for next := []int{0}; len(next) > 0; next = next[1:] {
		for _, m := range w.links(next[0]) {
			if _, known := d[m]; !known {
				d[m] = d[next[0]] + 1
				next = append(next, m)
			}
		}
	}
	return d
}

// disorder finds the requests that began before the last of lesser depth. Where a process was killed, only the first of
// each URL counts: what it had not finished is asked for again.
func (w *levelWeb) disorder(killed bool) (faults []string, levels int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	depth := w.depths()
	slices.SortFunc(w.log, func(a, b levelEntry) int { return a.start.Compare(b.start) })
	lastStart, seen := map[int]time.Time{}, map[string]bool{}
	log := w.log
	if killed {
		log = slices.DeleteFunc(slices.Clone(log), func(e levelEntry) bool {
			again := seen[e.path]
			seen[e.path] = true
			return again
		})
	}
	for _, e := range log {
		lastStart[depth[e.page]] = e.start
		levels = max(levels, depth[e.page]+1)
	}
	for _, e := range log {
		for d, at := range lastStart {
			if d < depth[e.page] && at.After(e.start) {
				faults = append(faults, fmt.Sprintf("page %d of depth %d was requested before the last one of depth %d", e.page,
					depth[e.page], d))
			}
		}
	}
	return faults, levels
}

// With --order breadth no URL is requested while one of lesser depth can still be fetched: by the servers' log, with a
// slow host, busy pages and redirects, and with a kill in the middle.
func TestBreadthFirstByLevels(t *testing.T) {
	long(t)
	for name, kills := range map[string]int{"calm": 0, "killed": 3} {
		t.Run(name, func(t *testing.T) {
			w := serveLevels(t, 1500)
			dir := filepath.Join(t.TempDir(), "out")
			c := crawler{exe: program, dir: dir,
				args: []string{"crawl", w.url(0), "--order", "breadth", "--scope", "any", "--allow-private",
					"--delay", "0s", "--host-connections", "8", "--quiet", "-o", dir}}
			for i := range kills {
				p := c.start(t)
				p.poll(t, "requests", func() bool {
					w.mu.Lock()
					defer w.mu.Unlock()
					return len(w.log) >= 300*(i+1)
				})
				if !p.kill(t) {
					t.Fatal("it ended before it was killed")
				}
			}
			c.start(t).wait(t)
			faults, levels := w.disorder(kills > 0)
			if len(faults) > 0 {
				t.Errorf("%d requests were too early; %s", len(faults), faults[0])
			}
			if r := readResults(t, dir); len(r.Pages) != len(w.depths()) {
				t.Errorf("%d pages stored, want %d", len(r.Pages), len(w.depths()))
			}
			t.Logf("%d requests on %d levels", len(w.log), levels)
		})
	}
}
