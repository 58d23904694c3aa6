package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Seed reads a list into a job of a cluster: bad lines are told and do not stop the rest, and the same list again,
// whole or longer, queues nothing twice.
func TestSeedReadsAList(t *testing.T) {
	c := newCluster(t)
	var text strings.Builder
	for i := range 700 {
		fmt.Fprintf(&text, "http://127.0.0.1:%d/p/%d\r\n", 8001+i%7, i)
	}
	file := filepath.Join(t.TempDir(), "seeds.txt")
	write := func(s string) { c.check(os.WriteFile(file, []byte(s), 0o600)) }
	write(text.String() + "no url\n")
	r := c.run("seed", "--cluster", "--job", "list", "--seeds", file)
	if r.exit != exitOK || !strings.Contains(r.stdout, "700 seeds of 701 lines, 1 line is no seed") ||
		!strings.Contains(r.stderr, "line 701") || !strings.Contains(r.stdout, "job list: 700 seeds queued") {
		t.Errorf("seed --seeds: exit status %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
	if job := c.specOf("list"); job.SeedList != file || len(job.Seeds) != 0 || job.SeedsOnly {
		t.Errorf("the job is stored as %+v", job)
	}
	c.startNode()
	deadline := time.Now().Add(5 * time.Minute)
	for c.text(`SELECT (count(*) >= 700)::text FROM urls`) != "true" {
		if time.Now().After(deadline) {
			t.Fatalf("the seeds are not claimed\n%s", c.log.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
	write(text.String() + "http://127.0.0.1:8001/further\n")
	if text := c.must("seed", "--cluster", "--job", "list", "--seeds", file); !strings.Contains(text,
		"1 seed of 701 lines, 700 known before") {
		t.Errorf("the list again: %s", text)
	}
	if r := c.run("seed", "--cluster", "--job", "other", "http://127.0.0.1:8001/", "--order",
		"breadth"); r.exit != exitUsage ||
		!strings.Contains(r.stderr, "order breadth") {
		t.Errorf("order breadth in a cluster: exit status %d, %s", r.exit, r.stderr)
	}
}
