package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// slowly is a crawl that takes its time: a delay between requests, and so long for each answer.
func slowly(t *testing.T, thinks time.Duration, changes ...func(*crawl.Job)) (crawler, *fakeweb.Server) {
	t.Helper()
	cfg := fakeweb.Default()
	cfg.Hosts, cfg.Pages, cfg.PageBytes, cfg.Delay, cfg.Unavailable = 10, 200, 2<<10, thinks, 0
	cfg.CrawlDelay, cfg.TrapHosts, cfg.DeadHosts, cfg.NXHosts = 10*time.Millisecond, 0, 0, 0
	srv := serve(t, cfg, 0)
	job := jobFor(srv)
	job.Politeness.Delay, job.Politeness.DownloadFactor = crawl.Duration(50*time.Millisecond), 0
	for _, change := range changes {
		change(job)
	}
	return newCrawler(t, srv, job), srv
}

// begun waits until the server has answered so many requests more.
func begun(t *testing.T, p *life, srv *fakeweb.Server, requests int) {
	t.Helper()
	want := srv.Log().Count() + requests
	if !p.poll(t, "requests", func() bool { return srv.Log().Count() >= want }) {
		t.Fatalf("the crawl ended early: %v\n%s", p.err, p.out.String())
	}
}

// unhurried lets a request that is held have all the time that the job allows, 30 s: it has no retries.
func unhurried(j *crawl.Job) { j.Retry.Max = 0 }

// hold has the server hold its answers, so that the crawl goes on until they are released, whatever the machine's pace.
func hold(t *testing.T, p *life, srv *fakeweb.Server) {
	t.Helper()
	srv.Hold()
	if !p.poll(t, "a request is held", func() bool { return srv.Held() > 0 }) {
		t.Fatalf("the crawl ended early: %v\n%s", p.err, p.out.String())
	}
}

// interrupt sends Ctrl-C and returns how long the process went on.
func interrupt(t *testing.T, p *life, limit time.Duration) time.Duration {
	t.Helper()
	sent := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(limit):
		t.Fatalf("the crawl went on for %v after the signal", limit)
	}
	return time.Since(sent)
}

func TestCtrlCFinishesWhatIsInFlightAndTheSameCommandGoesOn(t *testing.T) {
	long(t)
	t.Parallel()
	c, srv := slowly(t, 30*time.Millisecond, unhurried)
	p := c.start(t, "--quiet=false")
	begun(t, p, srv, 30)
	hold(t, p, srv)
	sent := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.poll(t, "the signal is noticed", func() bool { return p.out.says("finishing what is in flight") })
	srv.Release()
	p.poll(t, "the end", func() bool { return false })
	took := time.Since(sent)
	if code := p.cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("stopped by Ctrl-C: exit status %d, want 3\n%s", code, p.out.String())
	}
	stopped := readResults(t, c.dir)
	if r := audit(t, c.dir); r.Open == 0 || len(r.Faults) > 0 {
		t.Errorf("after Ctrl-C: %+v; want a sound crawl with URLs left", r)
	}
	for _, e := range srv.Log().Entries() {
		if e.Cut {
			t.Errorf("the answer for %s%s was cut: it was in flight", e.Host, e.Path)
		}
	}
	c.start(t).wait(t)
	got := readResults(t, c.dir)
	if got.Interrupted > 0 || len(got.Outcomes) <= len(stopped.Outcomes) {
		t.Errorf("%d outcomes, then %d, %d attempts interrupted: a crawl that was stopped well repeats nothing",
			len(stopped.Outcomes), len(got.Outcomes), got.Interrupted)
	}
	harness.Report(t, "after going on", append(got.Untrue(srv.Web()), unfinished(t, c)...))
	t.Logf("Ctrl-C took %v with %d of %d outcomes known", took.Round(time.Millisecond), len(stopped.Outcomes),
		len(got.Outcomes))
}

func TestSecondCtrlCEndsAtOnceAndLosesNothing(t *testing.T) {
	long(t)
	t.Parallel()
	c, srv := slowly(t, 0, unhurried)
	p := c.start(t, "--quiet=false")
	begun(t, p, srv, 30)
	hold(t, p, srv)
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.poll(t, "the first signal is noticed", func() bool { return p.out.says("finishing what is in flight") })
	interrupt(t, p, patience)
	harness.Until(t, patience, "the server to notice", func() bool { return srv.Held() == 0 })
	if !slices.ContainsFunc(srv.Log().Entries(), func(e fakeweb.Entry) bool { return e.Cut }) {
		t.Error("the second Ctrl-C waited for the answers that were on their way")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit status %d, want 3: it was stopped before its end\n%s", code, p.out.String())
	}
	if r := audit(t, c.dir); r.Open == 0 || len(r.Faults) > 0 {
		t.Errorf("after two signals: %+v; want a sound crawl with URLs left", r)
	}
}

func TestFreshDiscardsTheEarlierCrawl(t *testing.T) {
	long(t)
	t.Parallel()
	c, srv := slowly(t, 0)
	p := c.start(t)
	begun(t, p, srv, 50)
	p.kill(t)
	own := filepath.Join(c.dir, "notes.txt")
	if err := os.WriteFile(own, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := srv.Log().Count()
	c.start(t, "--fresh").wait(t)
	got := readResults(t, c.dir)
	harness.Report(t, "fresh", append(got.Untrue(srv.Web()), unfinished(t, c)...))
	if n := srv.Log().Count() - before; got.Interrupted > 0 || n < len(got.Pages) {
		t.Errorf("%d requests, %d interrupted for %d pages: something of the earlier crawl was left", n, got.Interrupted,
			len(got.Pages))
	}
	if data, err := os.ReadFile(own); err != nil || string(data) != "mine" {
		t.Errorf("--fresh touched a file that is not the crawl's: %q, %v", data, err)
	}
}

// refused runs a command that must end with exit status 1 and say each of the words.
func refused(t *testing.T, cmd *exec.Cmd, words ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("%q: exit status %d, want 1\n%s", cmd.Args, code, out.String())
	}
	for _, w := range words {
		if !strings.Contains(out.String(), w) {
			t.Errorf("%q is not in %q", w, out.String())
		}
	}
}

func TestDirectoryOfAnotherCrawlIsRefused(t *testing.T) {
	long(t)
	t.Parallel()
	c, srv := slowly(t, 0, unhurried)
	p := c.start(t)
	begun(t, p, srv, 20)
	hold(t, p, srv)
	refused(t, exec.Command(c.exe, c.args...), c.dir, "another process")
	// even so nothing may be deleted under it
	refused(t, exec.Command(c.exe, slices.Concat(c.args, []string{"--fresh"})...), c.dir, "another process")
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	srv.Release() // the process has its signal, and most of the web is left
	p.poll(t, "the end of the first crawl", func() bool { return false })
	if code := p.cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("the first crawl was stopped: exit status %d, want 3\n%s", code, p.out.String())
	}
	if r := audit(t, c.dir); len(r.Faults) > 0 || r.Pages == 0 {
		t.Errorf("the first crawl was harmed: %+v", r)
	}

	job := jobFor(srv)
	job.ID = "other"
	data, err := jobfile.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "other.yml")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, exec.Command(c.exe, slices.Concat(c.args, []string{"-c", file})...), c.dir, `"other"`, `"e2e"`, "--fresh")
	harness.Report(t, "after the refusals", audit(t, c.dir).Faults)
}
