package cluster_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e"
)

// world is a synthetic web being served, and what one machine found in it undisturbed.
type world struct {
	srv      *fakeweb.Server
	delay    time.Duration
	calm     *e2e.Results
	requests int // that the undisturbed crawl made
}

// undisturbed is the crawl that all others are compared with. They serve the same web on the same port, so that the
// URLs and bytes are the same.
var undisturbed struct {
	once sync.Once
	port int
	world
}

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
	delay, pages := harness.Duration(t, "WHIRLPOOL_E2E_DELAY", 40*time.Millisecond), harness.Number(t, "WHIRLPOOL_E2E_PAGES", 1000)
	u := &undisturbed
	u.once.Do(func() { u.crawl(t, webOf(pages, delay), delay) })
	if u.calm == nil {
		t.Fatal("the undisturbed crawl of the first test failed: there is nothing to compare with")
	}
	w := u.world
	w.delay = max(delay, least)
	w.srv = listen(t, webOf(pages, w.delay), u.port)
	return &w
}

func listen(t *testing.T, cfg fakeweb.Config, port int) *fakeweb.Server {
	t.Helper()
	srv, err := fakeweb.Serve(context.Background(), fakeweb.New(cfg), fakeweb.Options{Port: port})
	check(t, err)
	t.Cleanup(func() { check(t, srv.Close()) })
	return srv
}

// crawl crawls the web with `whirlpool crawl`.
func (w *world) crawl(t *testing.T, cfg fakeweb.Config, delay time.Duration) {
	srv := listen(t, cfg, 0)
	dir, err := os.MkdirTemp(t.ArtifactDir(), "crawl-")
	check(t, err)
	data, err := jobfile.Marshal(jobFor(srv, delay))
	file := filepath.Join(dir, "job.yml")
	check(t, errors.Join(err, os.WriteFile(file, data, 0o600)))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	began := time.Now()
	out := filepath.Join(dir, "out")
	text, err := exec.CommandContext(ctx, filepath.Join(programs, "whirlpool"), "crawl", "-c", file, "-o", out, "--dns", srv.DNSAddr(),
		"--allow-private", "--quiet").CombinedOutput()
	if err != nil {
		t.Fatalf("whirlpool crawl: %v\n%s", err, text)
	}
	calm, err := e2e.ReadDirectory(out)
	check(t, err)
	report(t, "undisturbed", append(calm.Untrue(srv.Web()), calm.Unsound()...))
	requests := srv.Log().Count()
	t.Logf("one machine took %v for %d requests and stored %d pages", time.Since(began).Round(time.Millisecond), requests, len(calm.Pages))
	undisturbed.port = srv.Port()
	check(t, srv.Close())
	w.delay, w.calm, w.requests = delay, calm, requests
}

// jobFor is a job over a whole synthetic web.
func jobFor(srv *fakeweb.Server, delay time.Duration) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.Contact = "e2e", srv.Web().Seeds(), crawl.ScopeAny, "e2e@whirlpool.invalid"
	job.MaxPages, job.MaxDepth, job.QueryVariants = 0, -1, 0 // budgets are spent in the order of the crawl
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(delay), crawl.Duration(delay/2)
	job.Retry.Base, job.Retry.SlowMin = crawl.Duration(2*time.Millisecond), crawl.Duration(50*time.Millisecond)
	job.Retry.SlowMax = crawl.Duration(5 * time.Second) // the rest of a refusing host doubles whenever somebody is killed
	return &job
}

func (w *world) job() *crawl.Job { return jobFor(w.srv, w.delay) }
