package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/spa"
)

// Applications built from npm's packages are found whole beside 20 plain sites, which cost a few renders a template.
// Nothing is asked for that may not be, or too soon.
func TestRenderingApplications(t *testing.T) {
	long(t)
	harness.NeedBrowser(t)
	if os.Getenv(spa.Asked) == "" {
		t.Skipf("it downloads five frameworks from npm's registry: %s=1 asks for it", spa.Asked)
	}
	dir, err := spa.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := spa.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(w)
	defer srv.Close()
	_, w.Port, _ = net.SplitHostPort(srv.Listener.Addr().String())
	const delay = 30 * time.Millisecond
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.MaxPages, job.NearDuplicate = "apps", w.Seeds(), 0, -1
	job.Politeness.Delay, job.Politeness.IPDelay, job.Render.Mode = crawl.Duration(delay), 0, crawl.RenderAuto
	c := crawlerOf(t, nameServer(t, map[string]string{".test.": "127.0.0.1"}, ""), &job)
	c.start(t).wait(t)
	pages := renderedPages(t, c.dir)
	for _, name := range spa.Names {
		links, found := w.Links(name), 0
		var missing []string
		for _, u := range links {
			if _, ok := pages[u]; ok {
				found++
			} else {
				missing = append(missing, u)
			}
		}
		if found*100 < 95*len(links) {
			t.Errorf("%s: %d of %d links found; not: %q", name, found, len(links), missing)
		}
		t.Logf("%s: %d of %d links", name, found, len(links))
	}
	plain := map[string]int{}
	for u, rendered := range pages {
		if host, _, _ := strings.Cut(strings.TrimPrefix(u, "http://"), ":"); rendered && strings.HasPrefix(host, "plain") {
			plain[host]++
		}
	}
	for host, n := range plain {
		if n > 20 { // each has two templates
			t.Errorf("%s: %d pages rendered, want 10 a template at most", host, n)
		}
	}
	if faults := faultsOf(w.Log(), delay); len(faults) > 0 {
		t.Errorf("%d requests that nobody may make, the first: %s", len(faults), faults[0])
	}
	t.Logf("%d pages; rendered plain ones: %v", len(pages), plain)
}

// faultsOf are the requests that nobody may make: not the fetcher's, forbidden, or too soon.
func faultsOf(log []spa.Call, delay time.Duration) (out []string) {
	last := map[string]spa.Call{}
	for _, c := range log {
		before, again := last[c.Host]
		switch gap := c.Began.Sub(before.Ended); {
		case c.Method != http.MethodGet || !strings.HasPrefix(c.Agent, "whirlpool-e2e") ||
			strings.HasPrefix(c.URI, "/private/"):
			out = append(out, c.Method+" "+c.Host+c.URI+" by "+c.Agent)
		case again && gap < delay-10*time.Millisecond:
			out = append(out, fmt.Sprintf("too soon by %v: %s%s after %s", delay-gap, c.Host, c.URI, before.URI))
		}
		last[c.Host] = c
	}
	return out
}
