package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// serve serves a synthetic web until the test ends. port is 0, or that of a server that was closed: crawls of the two
// see the same URLs and the same bytes.
func serve(t *testing.T, cfg fakeweb.Config, port int) *fakeweb.Server {
	t.Helper()
	srv, err := fakeweb.Serve(context.Background(), fakeweb.New(cfg), fakeweb.Options{Port: port})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

// jobFor is a job over a whole synthetic web that waits for nothing but what the servers ask for.
func jobFor(srv *fakeweb.Server) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.Contact = "e2e", srv.Web().Seeds(), crawl.ScopeAny, "e2e@whirlpool.invalid"
	job.MaxPages, job.MaxDepth, job.QueryVariants = 0, -1, 0 // budgets are spent in the order of the crawl
	job.Politeness.Delay, job.Politeness.IPDelay = 0, 0
	job.Retry.Base, job.Retry.SlowMin = crawl.Duration(2*time.Millisecond), crawl.Duration(50*time.Millisecond)
	job.Retry.SlowMax = crawl.Duration(5 * time.Second) // the rest of a refusing host doubles in every run that is killed
	return &job
}

// crawler is a command that crawls into a directory, as often as it is run.
type crawler struct {
	exe  string
	dir  string
	args []string
	env  []string
}

// newCrawler is the real program on a new directory, which `go test -artifacts` keeps.
func newCrawler(t *testing.T, srv *fakeweb.Server, job *crawl.Job, flags ...string) crawler {
	t.Helper()
	return crawlerOf(t, srv.DNSAddr(), job, flags...)
}

// crawlerOf is newCrawler with a name server of its own.
func crawlerOf(t *testing.T, dns string, job *crawl.Job, flags ...string) crawler {
	t.Helper()
	tmp, err := os.MkdirTemp(t.ArtifactDir(), "crawl-")
	if err != nil {
		t.Fatal(err)
	}
	data, err := jobfile.Marshal(job)
	file := filepath.Join(tmp, "job.yml")
	if err = errors.Join(err, os.WriteFile(file, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	c := crawler{exe: program, dir: filepath.Join(tmp, "out")}
	c.args = append([]string{"crawl", "-c", file, "-o", c.dir, "--dns", dns, "--allow-private", "--quiet",
		"--concurrency", "64"}, flags...)
	return c
}

// life is one run of a crawler.
type life struct {
	cmd    *exec.Cmd
	out    output        // standard output and error
	began  time.Time     // just before it was started
	killed time.Time     // just before it was; zero: it was not
	dead   time.Time     // just after its end, where it was killed
	ended  chan struct{} // closed at its end
	err    error
	agent  string // the User-Agent of this run alone
}

// agents counts the runs of all tests. The User-Agent tells the server's log which run sent a request: the times do
// not, because a busy server may read what a process sent when that is dead and its successor has begun.
var agents atomic.Int64

func (c crawler) start(t *testing.T, more ...string) *life {
	t.Helper()
	agent := fmt.Sprintf("whirlpool-e2e-run-%d", agents.Add(1))
	args := slices.Concat(c.args, []string{"--user-agent", agent}, more)
	cmd := exec.Command(c.exe, args...)
	cmd.Env = append(os.Environ(), c.env...)
	p := launch(t, cmd)
	p.agent = agent
	return p
}

// launch starts a process that ends with the test at the latest.
func launch(t *testing.T, cmd *exec.Cmd) *life {
	t.Helper()
	p := &life{cmd: cmd, ended: make(chan struct{}), began: time.Now()}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// over reports whether the process has ended.
func (p *life) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// kill ends the process by SIGKILL. It reports false where the process had ended by itself.
func (p *life) kill(t *testing.T) bool {
	t.Helper()
	p.killed = time.Now()
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	<-p.ended
	p.dead = time.Now()
	var exit *exec.ExitError
	if errors.As(p.err, &exit) && exit.ExitCode() > 0 {
		t.Fatalf("the crawl failed before it was killed: %v\n%s", p.err, p.out.String())
	}
	return p.err != nil
}

// patience bounds a crawl that nobody kills.
const patience = 10 * time.Minute

// wait waits until the crawl has ended well.
func (p *life) wait(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("the crawl did not end in %v", patience)
	}
	if p.err != nil {
		t.Fatalf("the crawl failed: %v\n%s", p.err, p.out.String())
	}
}

// poll looks again and again, because another process is concerned; it gives up when that has ended.
func (p *life) poll(t *testing.T, what string, done func() bool) bool {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !done(); {
		select {
		case <-p.ended:
			return false
		case now := <-tick.C:
			if now.After(deadline) {
				t.Fatalf("waited %v for %s; the process said:\n%s", patience, what, p.out.String())
			}
		}
	}
	return true
}

// audit runs `whirlpool audit` on a directory that no process uses, and returns the faults. A check that could not be
// made fails the test, because nothing changes there any more.
func audit(t *testing.T, dir string) (r crawl.AuditReport) {
	t.Helper()
	out, err := exec.Command(program, "audit", "--json", "-o", dir).Output()
	exit, stderr := exitOf(err)
	if exit < 0 {
		t.Fatalf("audit of %s: %v", dir, err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("audit of %s ended with %d: %v in %q; it said %q", dir, exit, err, out, stderr)
	}
	if complaint := contradiction(exit, &r); complaint != "" {
		t.Errorf("audit of %s: %s", dir, complaint)
	}
	return r
}

// exitOf is the exit status of a command by its error, and what it said; -1: it did not run to its end.
func exitOf(err error) (status int, stderr string) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &exit):
		return exit.ExitCode(), string(exit.Stderr)
	}
	return -1, ""
}

// The exit statuses of `whirlpool audit`.
const (
	auditProven   = 0
	auditWrong    = 1
	auditUnproven = 3
)

// contradiction returns how an audit's exit status contradicts its report; empty if it does not. An audit that could
// not check everything counts as neither sound nor unsound.
func contradiction(exit int, r *crawl.AuditReport) string {
	want := auditProven
	switch {
	case len(r.Faults) > 0:
		want = auditWrong
	case len(r.Doubts()) > 0:
		want = auditUnproven
	}
	switch {
	case exit != want:
		return fmt.Sprintf("exit status %d, want %d by its report: faults %q, not proven %q", exit, want, r.Faults,
			r.Doubts())
	case exit == auditUnproven:
		return fmt.Sprintf("nothing wrong was found, but not everything could be proven (exit status %d), though no "+
			"process has the crawl: %q", exit, r.Doubts())
	}
	return ""
}

func TestAnAuditIsReadByItsExitStatus(t *testing.T) {
	wrong := crawl.AuditReport{Faults: []string{"a page is lost"}}
	moving := crawl.AuditReport{Unproven: []string{"the crawl is running"}}
	both := crawl.AuditReport{Faults: wrong.Faults, Unproven: moving.Unproven}
	for _, tc := range []struct {
		name string
		exit int
		r    crawl.AuditReport
		want string // in the complaint; empty: none
	}{
		{"proven", 0, crawl.AuditReport{}, ""},
		{"wrong", 1, wrong, ""},
		{"wrong and moving", 1, both, ""},
		{"moving", 3, moving, "not everything could be proven"},
		{"wrong, and said to be proven", 0, wrong, "want 1"},
		{"moving, and said to be proven", 0, moving, "want 3"},
		{"moving, and said to be wrong", 1, moving, "want 3"},
		{"proven, and said to be moving", 3, crawl.AuditReport{}, "want 0"},
		{"another status", 2, crawl.AuditReport{}, "want 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := contradiction(tc.exit, &tc.r)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q in it", got, tc.want)
			}
		})
	}
}
