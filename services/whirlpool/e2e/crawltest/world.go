package crawltest

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

// Patience bounds a crawl, and all else that others take their time for: what does not come in that time will not come.
const Patience = 15 * time.Minute

// World is a synthetic web being served, and what one machine found in it undisturbed.
type World struct {
	Srv      *fakeweb.Server
	Delay    time.Duration // between two requests to a host
	Calm     *e2e.Results
	Requests int // that the undisturbed crawl made
}

// Job is a job over the whole web.
func (w *World) Job() *crawl.Job { return JobFor(w.Srv, w.Delay) }

// JobFor is a job over a whole synthetic web.
func JobFor(srv *fakeweb.Server, delay time.Duration) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.Contact = "e2e", srv.Web().Seeds(), crawl.ScopeAny, "e2e@whirlpool.invalid"
	job.MaxPages, job.MaxDepth, job.QueryVariants = 0, -1, 0 // budgets are spent in the order of the crawl
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(delay), crawl.Duration(delay/2)
	job.Retry.Base, job.Retry.SlowMin = crawl.Duration(2*time.Millisecond), crawl.Duration(50*time.Millisecond)
	job.Retry.SlowMax = crawl.Duration(5 * time.Second) // the rest of a refusing host doubles whenever somebody is killed
	return &job
}

// Listen serves a web until the test ends.
func Listen(t *testing.T, cfg fakeweb.Config, opts fakeweb.Options) *fakeweb.Server {
	t.Helper()
	srv, err := fakeweb.Serve(context.Background(), fakeweb.New(cfg), opts)
	harness.Check(t, err)
	t.Cleanup(func() { harness.Check(t, srv.Close()) })
	return srv
}

// Undisturbed is the crawl that all others are compared with. They serve the same web on the same port, so that the
// URLs and bytes are the same.
type Undisturbed struct {
	once  sync.Once
	port  int
	world World
}

// Crawl has the first test that calls it crawl a web by `whirlpool crawl`. It returns what was found, and the port of
// that web.
func (u *Undisturbed) Crawl(t *testing.T, whirlpool string,
	serve func() (*fakeweb.Server, *crawl.Job)) (w World, port int) {
	t.Helper()
	u.once.Do(func() {
		srv, job := serve()
		began := time.Now()
		calm := CrawlAlone(t, whirlpool, job, srv.DNSAddr())
		harness.Report(t, "undisturbed", append(calm.Untrue(srv.Web()), calm.Unsound()...))
		requests := srv.Log().Count()
		t.Logf("one machine took %v for %d requests and stored %d pages", time.Since(began).Round(time.Millisecond), requests,
			len(calm.Pages))
		u.port = srv.Port()
		harness.Check(t, srv.Close())
		u.world = World{Delay: job.Politeness.Delay.D(), Calm: calm, Requests: requests}
	})
	if u.world.Calm == nil {
		t.Fatal("the undisturbed crawl of the first test failed: there is nothing to compare with")
	}
	return u.world, u.port
}

// CrawlAlone has a job done by `whirlpool crawl`.
func CrawlAlone(t *testing.T, whirlpool string, job *crawl.Job, dns string) *e2e.Results {
	t.Helper()
	dir, err := os.MkdirTemp(t.ArtifactDir(), "crawl-")
	harness.Check(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	out := filepath.Join(dir, "out")
	text, err := exec.CommandContext(ctx, whirlpool, "crawl", "-c", WriteJob(t, dir, job), "-o", out, "--dns", dns,
		"--allow-private", "--quiet").CombinedOutput()
	if err != nil {
		t.Fatalf("whirlpool crawl: %v\n%s", err, text)
	}
	r, err := e2e.ReadDirectory(out)
	harness.Check(t, err)
	return r
}

// WriteJob writes a job file into a directory and returns its name.
func WriteJob(t *testing.T, dir string, job *crawl.Job) string {
	t.Helper()
	data, err := jobfile.Marshal(job)
	file := filepath.Join(dir, string(job.ID)+".yml")
	harness.Check(t, errors.Join(err, os.WriteFile(file, data, 0o600)))
	return file
}
