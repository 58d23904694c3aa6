package cluster_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// undisturbed is the crawl that all others are compared with.
var undisturbed crawltest.Undisturbed

// webOf has redirects, missing pages, refusals, robots.txt of all kinds, copies, pages that change, dead and unknown
// hosts.
func webOf(pages int, delay time.Duration) fakeweb.Config {
	cfg := fakeweb.Default()
	cfg.Pages, cfg.Hosts, cfg.PagesZipf, cfg.PageBytes = pages, max(pages/35, 10), 0.3, 4<<10
	cfg.Redirects, cfg.Errors404, cfg.Unavailable = 0.05, 0.03, 0.003 // each asks for 1 to 3 s once or twice
	cfg.Changing, cfg.ChangeEvery = 0.03, 300*time.Millisecond
	cfg.CrawlDelay, cfg.Addresses = 2*delay, max(cfg.Hosts/2, 1)
	cfg.TrapHosts, cfg.DeadHosts, cfg.NXHosts = 0, 1, 1
	return cfg
}

// serve serves the web until the test ends. The first test that does also has it crawled by one machine.
func serve(t *testing.T) *world {
	t.Helper()
	return serveSlowly(t, 0)
}

// serveSlowly is serve for a crawl with a delay of at least so much: what is found does not depend on it.
func serveSlowly(t *testing.T, least time.Duration) *world {
	t.Helper()
	long(t)
	ready(t)
	delay, pages := harness.Duration(t, "WHIRLPOOL_E2E_DELAY", 40*time.Millisecond),
		harness.Number(t, "WHIRLPOOL_E2E_PAGES", 600)
	calm, port := undisturbed.Crawl(t, filepath.Join(programs, "whirlpool"), func() (*fakeweb.Server, *crawl.Job) {
		srv := listen(t, webOf(pages, delay), 0)
		return srv, crawltest.JobFor(srv, delay)
	})
	calm.Delay = max(delay, least)
	calm.Srv = listen(t, webOf(pages, calm.Delay), port)
	return &calm
}

func listen(t *testing.T, cfg fakeweb.Config, port int) *fakeweb.Server {
	t.Helper()
	return crawltest.Listen(t, cfg, fakeweb.Options{Port: port})
}
