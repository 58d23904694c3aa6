package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/documents"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// program is the real binary, built once; with -short this test's own, which need not be linked again.
var program string

// isProgram is set for processes of the test's binary that are to be whirlpool.
const isProgram = "WHIRLPOOL_TEST_IS_PROGRAM"

func TestMain(m *testing.M) {
	documents.Main() // its processes have an environment of their own
	if os.Getenv(isProgram) != "" {
		main()
		os.Exit(0)
	}
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "whirlpool-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "whirlpool.exe")
	if err := makeProgram(); err != nil {
		fmt.Fprintln(os.Stderr, "make the program:", err)
		return 1
	}
	code := m.Run()
	if web != nil {
		_ = web.Close()
	}
	return code
}

func makeProgram() error {
	if !testing.Short() {
		return harness.BuildOne(program, ".")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return errors.Join(os.Setenv(isProgram, "yes"), os.Symlink(self, program))
}

// patience bounds every run of the program.
const patience = 5 * time.Minute

// result is what a run of the program left.
type result struct {
	stdout, stderr string
	exit           int
}

// whirlpool runs the program in a directory of its own choice.
func whirlpool(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("whirlpool %s: %v %v\n%s", strings.Join(args, " "), err, ctx.Err(), errs.String())
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// must is whirlpool for runs that have to succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	r := whirlpool(t, args...)
	if r.exit != exitOK {
		t.Fatalf("whirlpool %s: exit status %d\n%s%s", strings.Join(args, " "), r.exit, r.stdout, r.stderr)
	}
	return r.stdout
}

// decode reads the JSON that a run printed.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %.300q", err, text)
	}
	return v
}

func statusOf(t *testing.T, dir string) report.Status {
	t.Helper()
	return decode[report.Status](t, must(t, "status", "--json", "-o", dir))
}

func explain(t *testing.T, dir, url string) report.Explanation {
	t.Helper()
	return decode[report.Explanation](t, must(t, "explain", "--json", "-o", dir, url))
}

// web is a small synthetic web, served while the tests run.
var web *fakeweb.Server

var serveOnce = sync.OnceValue(func() (err error) {
	cfg := fakeweb.Default()
	cfg.Hosts, cfg.Pages, cfg.PagesZipf, cfg.PageBytes, cfg.CrawlDelay = 4, 400, 0, 2<<10, 10*time.Millisecond
	cfg.ExactDuplicates, cfg.Redirects, cfg.Errors404, cfg.Unavailable = 0.1, 0.08, 0.08, 0
	cfg.DeadHosts, cfg.NXHosts, cfg.TrapHosts = 0, 0, 0
	web, err = fakeweb.Serve(context.Background(), fakeweb.New(cfg), fakeweb.Options{})
	return err
})

// target is a job over the first hosts of the synthetic web, as a job file with the arguments to crawl it into dir.
type target struct {
	dir  string
	args []string
}

func newTarget(t *testing.T, change func(j *crawl.Job)) target {
	t.Helper()
	if err := serveOnce(); err != nil {
		t.Fatal(err)
	}
	job := crawl.DefaultJob()
	job.ID, job.Scope, job.MaxPages, job.Sitemaps = "test", crawl.ScopeHost, 0, false
	job.Seeds = web.Web().Seeds()
	job.Seeds = job.Seeds[:len(job.Seeds)-1] // the last host is out of scope
	job.Politeness.Delay, job.Retry.Base = 0, crawl.Duration(10*time.Millisecond)
	job.Retry.SlowMin = crawl.Duration(20 * time.Millisecond)
	if change != nil {
		change(&job)
	}
	tmp, err := os.MkdirTemp("", "whirlpool-crawl-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	data, err := jobfile.Marshal(&job)
	file := filepath.Join(tmp, "job.yml")
	if err = errors.Join(err, os.WriteFile(file, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(tmp, "out")
	return target{dir, []string{"crawl", "-c", file, "-o", dir, "--dns", web.DNSAddr(), "--allow-private", "--quiet"}}
}

// crawled is a crawl that has finished. All tests share it, so they must not change it.
func crawled(t *testing.T) string {
	t.Helper()
	crawlOnce.Do(func() {
		tg := newTarget(t, nil)
		must(t, tg.args...)
		tmp, err := os.MkdirTemp(filepath.Dir(program), "shared-")
		if err == nil {
			sharedCrawl = filepath.Join(tmp, "out")
			err = os.Rename(tg.dir, sharedCrawl)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if sharedCrawl == "" {
		t.Fatal("the crawl that all tests share did not succeed")
	}
	return sharedCrawl
}

var (
	crawlOnce   sync.Once
	sharedCrawl string
)

// running is a crawl in the background.
type running struct {
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	ended  chan error
}

// start begins a crawl and waits until it answers.
func start(t *testing.T, tg target, args ...string) *running {
	t.Helper()
	r := &running{stderr: new(bytes.Buffer), ended: make(chan error, 1)}
	r.cmd = exec.Command(program, append(tg.args, args...)...)
	r.cmd.Stderr = r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- r.cmd.Wait() }()
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	poll(t, "the crawl to answer", func() bool {
		select {
		case err := <-r.ended:
			t.Fatalf("the crawl ended at once: %v\n%s", err, r.stderr)
		default:
		}
		c, err := report.Dial(t.Context(), tg.dir)
		if err != nil {
			return false
		}
		s, err := c.Status(t.Context())
		return err == nil && s.Claimed > 0
	})
	return r
}

// wait waits for the crawl to end well, or to be stopped, and returns its exit status.
func (r *running) wait(t *testing.T) (exit int) {
	t.Helper()
	select {
	case err := <-r.ended:
		if exit = r.cmd.ProcessState.ExitCode(); exit != exitOK && exit != exitStopped {
			t.Fatalf("the crawl failed: %v\n%s", err, r.stderr)
		}
	case <-time.After(patience):
		t.Fatalf("the crawl did not end in %v\n%s", patience, r.stderr)
	}
	return exit
}

// poll looks again and again, because another process is concerned.
func poll(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}
