package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// Ctrl-C on a full disk ends the crawl in seconds with exit status 3, and the same command goes on when there is room:
// with the same set as an undisturbed run.
func TestCtrlCOnAFullDiskEndsTheCrawlAndLosesNothing(t *testing.T) {
	long(t)
	t.Parallel()
	c, srv := slowly(t, 0, unhurried)
	disk := filepath.Dir(c.dir) + "/disk"
	smallDisk(t, disk)
	for i, arg := range c.args {
		if arg == c.dir {
			c.args[i] = filepath.Join(disk, "out")
		}
	}
	c.dir = filepath.Join(disk, "out")
	p := c.start(t)
	begun(t, p, srv, 60)
	hold(t, p, srv) // so that most of the crawl is left when the disk is full
	filler := filepath.Join(disk, "filler")
	fillDisk(t, filler)
	srv.Release()
	if !p.poll(t, "a full disk", func() bool { return strings.Contains(p.out.String(), "the disk is full") }) {
		t.Fatalf("the crawl ended: %s", p.out.String())
	}
	took := interrupt(t, p, harness.Times(harness.Slowness(t), 10*time.Second))
	if code := p.cmd.ProcessState.ExitCode(); code != 3 || !strings.Contains(p.out.String(), "stopped on a full disk") {
		t.Errorf("exit status %d after %v: want 3, and what happened:\n%s", code, took, p.out.String())
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	c.start(t).wait(t)
	got := readResults(t, c.dir)
	harness.Report(t, "after a full disk", append(got.Untrue(srv.Web()), unfinished(t, c)...))
	if r := audit(t, c.dir); r.Open > 0 || len(r.Faults) > 0 {
		t.Errorf("in the end: %+v", r)
	}
}

// smallDisk mounts a small disk. That takes the right to mount.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
}

// fillDisk writes a file until there is no room.
func fillDisk(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2] // to the last byte
		}
	}
}
