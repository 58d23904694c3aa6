package cluster_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// What a wait may cost: memory of a program beyond what it held before, and lines in its log.
const (
	waitMemory = 48 << 20
	waitLines  = 200
)

// While the broker is away, has a memory alarm or a full disk, programs wait, log it, use no more memory, and continue
// by themselves.
func TestProgramsWaitAndGoOnByThemselves(t *testing.T) {
	long(t)
	// The broker's tool takes seconds until it has set an alarm, and more on a slow machine. A host is asked thirty
	// times and more, half of that after the last trouble has begun.
	w := serveSlowly(t, ready(t).toolTime(t)/5)
	disk := filepath.Join(t.TempDir(), "disk")
	mounted := mount(t, disk)
	c := newCluster(t, w.Srv, w.Job(), "WHIRLPOOL_DISK_SPOOL="+filepath.Join(disk, "spool"), "WHIRLPOOL_DISK_LIMIT=0.9")
	c.startSeven()
	c.seed()
	at := func(part float64) {
		until(t, patience, "requests",
			func() bool { return float64(w.Srv.Log().Count()) > part*float64(w.Requests) || c.stuck() })
	}
	at(0.2)
	t.Run("broker away", func(t *testing.T) {
		c.brokerAway(t, w,
			harness.Duration(t, "WHIRLPOOL_E2E_AWAY", 20*time.Second))
	})
	at(0.4)
	t.Run("memory alarm", func(t *testing.T) { c.memoryAlarm(t, w) })
	at(0.6)
	t.Run("disk full", func(t *testing.T) {
		if mounted != nil {
			t.Skipf("needs a small disk to fill: %v", mounted)
		}
		c.diskFull(t, w, disk)
	})
	c.wait()
	c.judge(w)
}

func (c *cluster) brokerAway(t *testing.T, w *world, away time.Duration) {
	before := c.cost()
	c.During("broker away", func() {
		c.services.do(t, "kill9", rabbitmq)
		deadline := time.Now().Add(away)
		if within(away, func() bool { return c.stuck() || time.Now().After(deadline) }); t.Failed() {
			return
		}
		if n := w.Srv.Log().Count(); !within(harness.Times(c.Slowness, 2*time.Second),
			func() bool { return w.Srv.Log().Count() > n }) {
			t.Logf("no request after %d", n)
		} else {
			t.Error("requests are made without a broker")
		}
		c.wantSaid(t, harness.Names, "connection to RabbitMQ lost")
		c.wantCheap(t, before)
		c.services.do(t, "start", rabbitmq)
	})
	c.untilSaid(t, harness.Names, "connected to RabbitMQ again")
}

func (c *cluster) memoryAlarm(t *testing.T, w *world) {
	before := c.cost()
	c.services.rabbitmqctl(t, "set_vm_memory_high_watermark", "0.000001")
	if c.ended() {
		t.Fatal("the job had ended before the alarm was set: there is nothing to show")
	}
	const blocked, open = "RabbitMQ takes no messages", "RabbitMQ takes messages again"
	// The broker tells only those who publish. The frontier always does; who got nothing more from it may not have had to.
	c.untilSaid(t, []string{"frontier"}, blocked)
	c.standstill(w.Srv, harness.Times(c.Slowness, 3*time.Second))
	c.wantCheap(t, before)
	var told []string
	for _, name := range harness.Names {
		if c.program(name).Said(blocked) {
			told = append(told, name)
		}
	}
	t.Logf("told of the alarm: %v", told)
	c.services.rabbitmqctl(t, "set_vm_memory_high_watermark", "0.4")
	c.untilSaid(t, told, open)
}

func (c *cluster) diskFull(t *testing.T, w *world, disk string) {
	before := c.cost()
	filler := filepath.Join(disk, "filler")
	check(t, fill(filler))
	c.untilSaid(t, []string{"frontier"}, "paused: the disk is nearly full")
	c.standstill(w.Srv, harness.Times(c.Slowness, 3*time.Second))
	c.wantCheap(t, before)
	check(t, os.Remove(filler))
	c.untilSaid(t, []string{"frontier"}, "continues: there is room on the disk")
}

// fill writes a file until the disk is full.
func fill(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, zeros{})
	if !errors.Is(err, syscall.ENOSPC) {
		return errors.Join(fmt.Errorf("the disk was not filled: %w", err), f.Close())
	}
	return f.Close()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// mount makes a small disk, and says why not where it cannot: then there is a directory.
func mount(t *testing.T, dir string) error {
	t.Helper()
	check(t, os.Mkdir(dir, 0o700))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("mount a tmpfs: %w: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return nil
}

// expense is what a program holds and has said.
type expense struct {
	memory int64
	lines  int
}

func (c *cluster) cost() map[string]expense {
	m := map[string]expense{}
	for _, p := range c.programs {
		m[p.Name] = expense{p.Memory(), len(p.Lines())}
	}
	return m
}

// wantCheap fails the test where a program has grown or babbled since.
func (c *cluster) wantCheap(t *testing.T, before map[string]expense) {
	t.Helper()
	for name, now := range c.cost() {
		grown, said := now.memory-before[name].memory, now.lines-before[name].lines
		t.Logf("%s: %d MB, %+d; %d lines", name, now.memory>>20, grown>>20, said)
		if grown > waitMemory || said > waitLines {
			t.Errorf("%s took %d MB and wrote %d lines while it waited, want at most %d and %d", name, grown>>20, said,
				waitMemory>>20, waitLines)
		}
	}
}

// wantSaid fails the test where a program has not said something.
func (c *cluster) wantSaid(t *testing.T, programs []string, text string) {
	t.Helper()
	for _, name := range programs {
		if p := c.program(name); !p.Said(text) {
			t.Errorf("%s did not say %q:\n%s", name, text, p.Tail())
		}
	}
}

// untilSaid waits until the programs say something.
func (c *cluster) untilSaid(t *testing.T, programs []string, text string) {
	t.Helper()
	within(patience, func() bool {
		return c.stuck() || !slices.ContainsFunc(programs, func(name string) bool { return !c.program(name).Said(text) })
	})
	c.wantSaid(t, programs, text)
}
