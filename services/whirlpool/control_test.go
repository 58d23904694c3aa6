//go:build unix

package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

func TestCommandsReachACrawlThatRuns(t *testing.T) {
	tg := newTarget(t, nil)
	seed := web.Web().Seeds()[0]
	r := start(t, tg, "--delay", "1h") // robots.txt at once, the first pages in an hour
	s := statusOf(t, tg.dir)
	if s.State != report.StateRunning || s.Pages != 0 || s.Started.IsZero() {
		t.Errorf("status of a crawl that runs: %+v", s)
	}
	poll(t, "the robots.txt of the seed", func() bool { return explain(t, tg.dir, seed).Robots.State != "unknown" })
	if e := explain(t, tg.dir, seed); e.Ledger.State != "open" || !strings.Contains(e.Answer, "waits") {
		t.Errorf("a seed that waits is explained as %+v", e)
	}
	must(t, "audit", "-o", tg.dir)
	must(t, "export", "-o", tg.dir)
	must(t, "replay", "--list", "-o", tg.dir)
	if r := whirlpool(t, "replay", "-o", tg.dir); r.exit != exitFailure || !strings.Contains(r.stderr, "running") {
		t.Errorf("replay into a crawl that runs: exit status %d, %s", r.exit, r.stderr)
	}
	if r := whirlpool(t, tg.args...); r.exit != exitFailure || !strings.Contains(r.stderr, "in use by another process") {
		t.Errorf("a second crawl into the directory: exit status %d, %s", r.exit, r.stderr)
	}
	must(t, "pause", "-o", tg.dir)
	if s := statusOf(t, tg.dir); s.State != report.StatePaused {
		t.Errorf("state %s after pause", s.State)
	}
	must(t, "resume", "-o", tg.dir)
	if s := statusOf(t, tg.dir); s.State != report.StateRunning {
		t.Errorf("state %s after resume", s.State)
	}
	must(t, "stop", "-o", tg.dir)
	if exit := r.wait(t); exit != exitStopped {
		t.Errorf("exit status %d after stop, want %d", exit, exitStopped)
	}
	if s := statusOf(t, tg.dir); s.State != report.StateStopped || s.Queued+s.InFlight == 0 {
		t.Errorf("status after stop: %+v", s)
	}
	if _, err := os.Lstat(filepath.Join(tg.dir, "state", "control.sock")); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}

func TestAStoppedCrawlResumedEndsLikeAnUndisturbedOne(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGHUP) // where the tests run under nohup, the crawl would inherit that it is ignored
	defer signal.Stop(ignored)
	for name, sig := range map[string]os.Signal{"Ctrl-C": os.Interrupt, "terminated": syscall.SIGTERM,
		"hang-up": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) { stopAndResume(t, sig) })
	}
}

func stopAndResume(t *testing.T, sig os.Signal) {
	tg := newTarget(t, nil)
	r := start(t, tg, "--delay", "1s") // which the hosts still get after the restart
	if err := r.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if exit := r.wait(t); exit != exitStopped {
		t.Errorf("exit status %d, want %d", exit, exitStopped)
	}
	must(t, tg.args...)
	got, want := statusOf(t, tg.dir), statusOf(t, crawled(t))
	if got.State != report.StateFinished || got.Pages != want.Pages || got.Claimed != want.Claimed {
		t.Errorf("resumed: %s with %d pages of %d claimed URLs; undisturbed: %d of %d", got.State, got.Pages, got.Claimed,
			want.Pages, want.Claimed)
	}
	must(t, "audit", "-o", tg.dir)
}

func TestKilledCrawlLeavesASocketThatBothSidesPassOver(t *testing.T) {
	tg := newTarget(t, nil)
	r := start(t, tg, "--delay", "1h")
	if err := r.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-r.ended
	if s := statusOf(t, tg.dir); s.State != report.StateStopped {
		t.Errorf("state %s after a kill", s.State)
	}
	r = start(t, tg, "--delay", "1h")
	must(t, "stop", "-o", tg.dir)
	r.wait(t)
}
