package main

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// specOf is the specification of a job as the database has it.
func (c *clusterUnderTest) specOf(job string) *crawl.Job {
	c.t.Helper()
	text := c.text(`SELECT r.spec::text FROM jobs j JOIN job_revisions r ON r.job = j.number AND r.epoch = j.epoch WHERE j.id = $1`, job)
	spec, err := crawl.DecodeJob([]byte(text), 1)
	c.check(err)
	return spec
}

// Seed gives a job that exists further seeds. Its settings change only where a flag or a job file says so.
func TestSeedKeepsTheSettingsOfAJobThatExists(t *testing.T) {
	c := newCluster(t)
	first, second := "http://127.0.0.1:8001/", "http://127.0.0.1:8002/"
	c.must("seed", "--cluster", "--job", "kept", first, "--max-depth", "1", "--exclude", "/private/", "--delay", "3s",
		"--near-duplicate", "-1")
	before := c.specOf("kept")

	text := c.must("seed", "--cluster", "--job", "kept", second)
	after := c.specOf("kept")
	changes := crawl.Changes(before, after)
	if len(changes) != 1 || changes[0].Key != "seeds" || len(after.Seeds) != 2 ||
		!strings.Contains(text, "job kept: 2 seeds queued") {
		t.Errorf("a further seed changes %v\n%s", changes, text)
	}
	if text := c.must("seed", "--cluster", "--job", "kept", second); strings.Contains(text, "changes") ||
		len(c.specOf("kept").Seeds) != 2 {
		t.Errorf("the same seed again: %q", text)
	}
	text = c.must("seed", "--cluster", "--job", "kept", second, "--max-depth", "2")
	if changes := crawl.Changes(after, c.specOf("kept")); len(changes) != 1 ||
		!strings.Contains(text, "max_depth: 1 → 2") {
		t.Errorf("one flag changes %v\n%s", changes, text)
	}
	r := c.run("seed", "--cluster", "--job", "kept", second, "--near-duplicate", "3")
	if r.exit != exitUsage || !strings.Contains(r.stderr, "near_duplicate") {
		t.Errorf("what cannot change: exit status %d, %s", r.exit, r.stderr)
	}
}

// With a job file all settings are those of the file.
func TestSeedWithAJobFileChangesAllSettings(t *testing.T) {
	c := newCluster(t)
	c.must("seed", "--cluster", "--job", "test", "http://127.0.0.1:8001/", "--max-depth", "1", "--delay", "3s")
	text := c.must("seed", "--cluster", "--job", "test", "-c", newTarget(t, nil).args[2])
	if !strings.Contains(text, "delay: 3s → ") || !strings.Contains(text, "max_depth: 1 → ") {
		t.Errorf("seed -c says %q", text)
	}
}
