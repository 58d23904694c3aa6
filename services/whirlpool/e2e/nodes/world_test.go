package nodes_test

import (
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// hosts of the synthetic web.
const hosts = 300

// undisturbed is the crawl that all others are compared with; what they find does not depend on their delays.
var undisturbed crawltest.Undisturbed

// webOf has redirects, missing pages, refusals, robots.txt of all kinds, copies, dead and unknown hosts.
func webOf(delay time.Duration) fakeweb.Config {
	cfg := fakeweb.Default()
	cfg.Hosts, cfg.Pages, cfg.PagesZipf, cfg.PageBytes, cfg.Links = hosts, 5*hosts, 0.2, 3<<10, 12
	cfg.Redirects, cfg.Errors404, cfg.Unavailable = 0.05, 0.03, 0.002 // each asks for 1 to 3 s once or twice
	cfg.CrawlDelay, cfg.Addresses = 3*delay/2, 200
	cfg.TrapHosts, cfg.DeadHosts, cfg.NXHosts = 0, 1, 1
	return cfg
}

// serve serves the web until the test ends, for crawls with a delay. The first test that does also has it crawled by
// one machine.
func serve(t *testing.T, delay time.Duration) *world {
	t.Helper()
	ready(t)
	calm, port := undisturbed.Crawl(t, filepath.Join(programs, "whirlpool"), func() (*fakeweb.Server, *crawl.Job) {
		const delay = 20 * time.Millisecond
		srv := listen(t, webOf(delay), 0)
		return srv, jobFor(srv, delay)
	})
	calm.Delay, calm.Srv = delay, listen(t, webOf(delay), port)
	return &calm
}

func listen(t *testing.T, cfg fakeweb.Config, port int) *fakeweb.Server {
	t.Helper()
	opts := fakeweb.Options{Port: port}
	if errNoSpace == nil {
		opts.Network = netip.MustParsePrefix(webRange)
	}
	return crawltest.Listen(t, cfg, opts)
}

// jobFor is a job over a whole synthetic web. Hosts of one address may belong to two nodes, so there is no delay
// between those.
func jobFor(srv *fakeweb.Server, delay time.Duration) *crawl.Job {
	job := crawltest.JobFor(srv, delay)
	job.Politeness.IPDelay = 0
	return job
}
