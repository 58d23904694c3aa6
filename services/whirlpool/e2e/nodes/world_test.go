package nodes_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e"
)

// hosts of the synthetic web.
const hosts = 500

// world is a synthetic web being served, and what one machine found in it undisturbed.
type world struct {
	srv      *fakeweb.Server
	delay    time.Duration
	calm     *e2e.Results
	requests int // that the undisturbed crawl made
}

// undisturbed is the crawl that all others are compared with. They serve the same web on the same port, so that the
// URLs and bytes are the same; what they find does not depend on their delays.
var undisturbed struct {
	once sync.Once
	port int
	world
}

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
	u := &undisturbed
	u.once.Do(func() { u.crawl(t) })
	if u.calm == nil {
		t.Fatal("the undisturbed crawl of the first test failed: there is nothing to compare with")
	}
	w := u.world
	w.delay, w.srv = delay, listen(t, webOf(delay), u.port)
	return &w
}

func listen(t *testing.T, cfg fakeweb.Config, port int) *fakeweb.Server {
	t.Helper()
	opts := fakeweb.Options{Port: port}
	if errNoSpace == nil {
		opts.Network = netip.MustParsePrefix(webRange)
	}
	srv, err := fakeweb.Serve(context.Background(), fakeweb.New(cfg), opts)
	check(t, err)
	t.Cleanup(func() { check(t, srv.Close()) })
	return srv
}

// crawl crawls the web with `whirlpool crawl`.
func (w *world) crawl(t *testing.T) {
	const delay = 20 * time.Millisecond
	srv := listen(t, webOf(delay), 0)
	began := time.Now()
	calm := crawlAlone(t, jobFor(srv, delay), srv.DNSAddr())
	report(t, "undisturbed", append(calm.Untrue(srv.Web()), calm.Unsound()...))
	requests := srv.Log().Count()
	t.Logf("one machine took %v for %d requests and stored %d pages", time.Since(began).Round(time.Millisecond), requests, len(calm.Pages))
	undisturbed.port = srv.Port()
	check(t, srv.Close())
	w.calm, w.requests = calm, requests
}

// crawlAlone has a job done by `whirlpool crawl`.
func crawlAlone(t *testing.T, job *crawl.Job, dns string) *e2e.Results {
	t.Helper()
	dir, err := os.MkdirTemp(t.ArtifactDir(), "crawl-")
	check(t, err)
	data, err := jobfile.Marshal(job)
	file := filepath.Join(dir, "job.yml")
	check(t, errors.Join(err, os.WriteFile(file, data, 0o600)))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out := filepath.Join(dir, "out")
	text, err := exec.CommandContext(ctx, filepath.Join(programs, "whirlpool"), "crawl", "-c", file, "-o", out, "--dns", dns,
		"--allow-private", "--quiet").CombinedOutput()
	if err != nil {
		t.Fatalf("whirlpool crawl: %v\n%s", err, text)
	}
	r, err := e2e.ReadDirectory(out)
	check(t, err)
	return r
}

// jobFor is a job over a whole synthetic web. Hosts of one address may belong to two nodes, so there is no delay
// between those.
func jobFor(srv *fakeweb.Server, delay time.Duration) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.Contact = "e2e", srv.Web().Seeds(), crawl.ScopeAny, "e2e@whirlpool.invalid"
	job.MaxPages, job.MaxDepth, job.QueryVariants = 0, -1, 0 // budgets are spent in the order of the crawl
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(delay), 0
	job.Retry.Base, job.Retry.SlowMin = crawl.Duration(2*time.Millisecond), crawl.Duration(50*time.Millisecond)
	job.Retry.SlowMax = crawl.Duration(5 * time.Second) // the rest of a refusing host doubles whenever somebody is killed
	return &job
}

func (w *world) job() *crawl.Job { return jobFor(w.srv, w.delay) }
