package e2e_test

import (
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// A URL that two pages name at the same instant is still claimed by one of them, however many requests run at once.
func TestNoURLIsFetchedTwice(t *testing.T) {
	long(t)
	cfg := variedWeb(2000)
	cfg.Delay = 10 * time.Millisecond
	srv := serve(t, cfg, 0)
	job := jobFor(srv)
	job.Politeness.HostConnections = 16
	c := newCrawler(t, srv, job, "--concurrency", "256")
	c.start(t).wait(t)
	times := map[string]int{}
	busiest, running := 0, map[string]int64{}
	for _, e := range srv.Log().Entries() {
		if e.RetryAfter > 0 || e.Status == 503 { // asked again, as it should be
			continue
		}
		u := e.Host + e.Path
		if times[u]++; times[u] == 2 {
			t.Errorf("%s was fetched twice (status %d)", u, e.Status)
		}
		if e.Start < running[e.Host] {
			busiest++
		}
		running[e.Host] = max(running[e.Host], e.End)
	}
	if busiest < 100 {
		t.Errorf("only %d requests ran while another to their host did: the test proves nothing", busiest)
	}
	got := readResults(t, c.dir)
	harness.Report(t, "results", append(got.Untrue(srv.Web()), got.Unsound()...))
	t.Logf("%d URLs, each fetched once; %d requests overlapped with another to their host", len(times), busiest)
}
