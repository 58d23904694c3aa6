package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// tree is a site whose pages have four links each. The depth of a page does not depend on the order of the crawl.
type tree struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]time.Time
}

func newTree(t *testing.T) *tree {
	s := &tree{asked: map[string]time.Time{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.Path] = time.Now()
		s.mu.Unlock()
		name := strings.Trim(r.URL.Path, "/")
		if name == "robots.txt" || name == "sitemap.xml" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>page %s</title><p>%s", name, strings.Repeat("words of page "+name+" ", 20))
		for i := range 4 {
			fmt.Fprintf(w, `<a href="/%s%d">%d</a>`, name+"-", i, i)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// since returns the paths that were asked for, last, after a moment.
func (s *tree) since(at time.Time) (paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, last := range s.asked {
		if last.After(at) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

func (c *clusterUnderTest) statusOf(job string) report.Status {
	c.t.Helper()
	return decode[report.Status](c.t, c.must("status", "--cluster", "--json", "--job", job))
}

// awaitPages waits until a job is finished with so many pages.
func (c *clusterUnderTest) awaitPages(job string, pages int64) {
	c.t.Helper()
	var s report.Status
	for deadline := time.Now().Add(2 * patience); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if s = c.statusOf(job); s.State == report.StateFinished && s.Pages >= pages {
			break
		}
	}
	if s.State != report.StateFinished || s.Pages != pages {
		c.t.Fatalf("job %s is %s with %d pages, want it finished with %d\nnode:\n%s", job, s.State, s.Pages, pages,
			c.log.String())
	}
}

// killNode ends the node at once and starts another.
func (c *clusterUnderTest) killNode() {
	c.t.Helper()
	c.check(c.node.Process.Kill())
	_ = c.node.Wait()
	c.startNode()
}

// seedTree gives the cluster a job over the tree.
func (c *clusterUnderTest) seedTree(s *tree, job string, flags ...string) {
	c.t.Helper()
	c.must(slices.Concat([]string{"seed", "--cluster", "--job", job, s.URL + "/", "--no-sitemaps", "--near-duplicate",
		"-1"}, flags)...)
}

func (c *clusterUnderTest) revise(job string, flags ...string) string {
	c.t.Helper()
	return c.must(slices.Concat([]string{"set", "--cluster", "--job", job}, flags)...)
}

// TestJobsOfAClusterAreNarrowedAndWidenedInPlace revises jobs that have ended, that run, and while nodes are killed.
func TestJobsOfAClusterAreNarrowedAndWidenedInPlace(t *testing.T) {
	c := newCluster(t)
	c.startNode()
	for _, step := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"a bound that ended a job is widened", func(t *testing.T) {
			s := newTree(t)
			c.seedTree(s, "deep", "--delay", "0s", "--max-depth", "1")
			c.seedTree(s, "pages", "--delay", "0s", "--max-depth", "2", "--max-pages", "7")
			c.awaitPages("deep", 5)
			c.awaitPages("pages", 7)
			if text := c.revise("deep", "--max-depth", "3"); !strings.Contains(text, "max_depth: 1 → 3") {
				t.Errorf("set says %q", text)
			}
			c.revise("pages", "--max-pages", "0")
			c.awaitPages("deep", 85)
			c.awaitPages("pages", 21)
			if text := c.must("explain", "--cluster", "--job", "deep", s.URL+"/-1-1-1-1"); !strings.Contains(text,
				"deeper than max_depth 3") {
				t.Errorf("explained as\n%s", text)
			}
		}},
		{"a bound of bytes, and of time", func(t *testing.T) { checkBounds(t, c) }},
		{"killed in the sweep", func(t *testing.T) {
			s := newTree(t)
			c.seedTree(s, "kill", "--delay", "0s", "--max-depth", "2", "--exclude", "/-[12]")
			c.awaitPages("kill", 11)
			c.revise("kill", "--max-depth", "3", "--exclude", "/-3-3")
			for range 3 {
				time.Sleep(1500 * time.Millisecond)
				c.killNode()
			}
			c.awaitPages("kill", 85-4) // /-3-3 was fetched before it was excluded, the four that it links to were not
		}},
		{"while it runs", func(t *testing.T) { checkSetWhileRunning(t, c) }},
		{"what cannot change", func(t *testing.T) {
			r := c.run("set", "--cluster", "--job", "deep", "--near-duplicate", "3")
			if r.exit != exitUsage || !strings.Contains(r.stderr, "near_duplicate") {
				t.Errorf("exit status %d: %s", r.exit, r.stderr)
			}
		}},
	} {
		t.Run(step.name, func(t *testing.T) {
			c.t = t
			step.run(t)
		})
	}
	c.t = t
}

// checkBounds ends jobs by their bounds, while a node is killed, and lets them go on with greater ones.
func checkBounds(t *testing.T, c *clusterUnderTest) {
	s := newTree(t)
	c.seedTree(s, "bytes", "--delay", "300ms", "--max-depth", "2", "--max-bytes", "1200")
	c.seedTree(s, "time", "--delay", "700ms", "--max-depth", "2", "--max-time", "6s")
	time.Sleep(2500 * time.Millisecond)
	c.killNode()
	for job, bound := range map[string]string{"bytes": "max_bytes 1200", "time": "max_time 6s"} {
		var st report.Status
		poll(t, "the end of "+job, func() bool { st = c.statusOf(job); return st.State == report.StateFinished })
		if text := c.must("status", "--cluster", "--job", job); st.Open == 0 || st.Pages == 0 || st.Spent == nil ||
			st.Spent.Met != bound || !strings.Contains(text, bound+") is met") {
			t.Errorf("job %s: %+v, %+v\n%s", job, st, st.Spent, text)
		}
	}
	c.revise("bytes", "--max-bytes", "0", "--delay", "0s")
	c.revise("time", "--max-time", "1h", "--delay", "0s")
	c.awaitPages("bytes", 21)
	c.awaitPages("time", 21)
}

func checkSetWhileRunning(t *testing.T, c *clusterUnderTest) {
	s := newTree(t)
	c.seedTree(s, "live", "--delay", "50ms", "--max-depth", "2")
	for deadline := time.Now().Add(patience); len(s.since(time.Time{})) < 5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing was asked for\nnode:\n%s", c.log.String())
		}
	}
	// A request that ends under the long delay has its host rest so long, whatever is set later: hence no hour.
	c.revise("live", "--delay", "30s")
	time.Sleep(2500 * time.Millisecond) // the frontier looks every second
	at := time.Now()
	c.revise("live", "--exclude", "/-1", "--max-depth", "3")
	time.Sleep(2 * time.Second)
	if paths := s.since(at); len(paths) > 0 {
		t.Errorf("%q were asked for after the delay had been raised", paths)
	}
	at = time.Now()
	c.revise("live", "--delay", "0s")
	for deadline := time.Now().Add(2 * patience); c.statusOf("live").State != report.StateFinished; time.Sleep(
		200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the job does not end\nnode:\n%s", c.log.String())
		}
	}
	asked := s.since(time.Time{})
	for _, path := range s.since(at) {
		if strings.HasPrefix(path, "/-1") {
			t.Errorf("%s was asked for after it had been excluded", path)
		}
	}
	wanted := slices.DeleteFunc(asked, func(p string) bool { return p == "/robots.txt" || strings.HasPrefix(p, "/-1") })
	if len(wanted) != 1+3+12+48 {
		t.Errorf("%d pages that are not excluded were asked for, want %d", len(wanted), 1+3+12+48)
	}
}
