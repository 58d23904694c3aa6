package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// If a directory is deleted or moved under a running crawl, the crawl ends with one error that names it, without a
// stack trace.
func TestADirectoryThatIsDeletedEndsTheCrawl(t *testing.T) {
	long(t)
	t.Parallel()
	for name, harm := range map[string]func(dir string) error{
		"deleted":      os.RemoveAll,
		"moved":        func(dir string) error { return os.Rename(dir, dir+"-elsewhere") },
		"the state":    func(dir string) error { return os.RemoveAll(filepath.Join(dir, "state")) },
		"the database": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "state", "db")) },
		"the records":  func(dir string) error { return os.Remove(filepath.Join(dir, "pages.jsonl")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := variedWeb(3000)
			srv := serve(t, cfg, 0)
			job := jobFor(srv)
			job.Politeness.Delay = 1e9 // it lasts for minutes
			c := newCrawler(t, srv, job)
			p := c.start(t)
			p.poll(t, "requests", func() bool { return srv.Log().Count() >= 30 })
			if err := harm(c.dir); err != nil {
				t.Fatal(err)
			}
			p.poll(t, "the end of the crawl", func() bool { return false })
			out := p.out.String()
			if p.cmd.ProcessState.ExitCode() != 1 || strings.Contains(out, "goroutine ") || !strings.Contains(out, c.dir) ||
				!strings.Contains(out, "deleted or moved") || strings.Count(out, "\n") > 3 {
				t.Errorf("exit status %d: %s", p.cmd.ProcessState.ExitCode(), out)
			}
		})
	}
}

// Results are never overwritten without a word, and --fresh says what it discards.
func TestResultsWithoutStateAreKept(t *testing.T) {
	long(t)
	t.Parallel()
	srv := serve(t, variedWeb(60), 0)
	c := newCrawler(t, srv, jobFor(srv))
	c.start(t).wait(t)
	if err := os.RemoveAll(filepath.Join(c.dir, "state")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(c.dir, "pages.jsonl")
	before := wholeFile(t, file)
	again := func(want int, flags ...string) string {
		t.Helper()
		args := slices.DeleteFunc(slices.Concat(c.args, flags), func(a string) bool { return a == "--quiet" })
		cmd := exec.Command(c.exe, args...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != want {
			t.Fatalf("exit status %d, want %d: %s", cmd.ProcessState.ExitCode(), want, out)
		}
		return string(out)
	}
	if out := again(1); !strings.Contains(out, c.dir) || !strings.Contains(out, "--fresh") ||
		string(wholeFile(t, file)) != string(before) {
		t.Errorf("the same command again: %s", out)
	}
	if out := again(0, "--fresh"); !strings.Contains(out, "discarded 5") || !strings.Contains(out, "bytes in all") {
		t.Errorf("with --fresh: %s", out)
	}
	got := readResults(t, c.dir)
	harness.Report(t, "after --fresh", slices.Concat(got.Untrue(srv.Web()), got.Unsound(), unfinished(t, c)))
}

// Damage is found by the audit, and put right by a repair and another run.
func TestARepairedCrawlGoesOn(t *testing.T) {
	long(t)
	t.Parallel()
	srv := serve(t, variedWeb(120), 0)
	c := newCrawler(t, srv, jobFor(srv))
	c.start(t).wait(t)
	file := filepath.Join(c.dir, "pages.jsonl")
	data := wholeFile(t, file)
	for i := len(data) / 40; i < len(data); i += len(data) / 20 { // 20 flipped bits
		data[i] ^= 1
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := audit(t, c.dir); len(r.Faults) == 0 || r.Directory.Damaged+r.Directory.Missing < 15 {
		t.Errorf("audit: %q, %+v", r.Faults, r.Directory)
	}
	out, err := exec.Command(program, "repair", "-o", c.dir).CombinedOutput()
	if err != nil {
		t.Fatalf("repair: %v: %s", err, out)
	}
	c.start(t).wait(t)
	got := readResults(t, c.dir)
	harness.Report(t, "after the repair", slices.Concat(got.Untrue(srv.Web()), unfinished(t, c)))
}
