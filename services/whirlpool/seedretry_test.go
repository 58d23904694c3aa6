package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// set gives the programs that start from now on another value of a variable.
func (c *clusterUnderTest) set(name, value string) {
	c.env = append(slices.DeleteFunc(c.env, func(s string) bool { return strings.HasPrefix(s, name+"=") }), name+"="+value)
}

// A job that was refused private addresses gets them by a flag, without any change of the node, and what was refused is
// fetched.
func TestRefusedURLsAreTriedAgainAfterASettingChanged(t *testing.T) {
	c := newCluster(t)
	c.set("WHIRLPOOL_FETCH_ALLOW_PRIVATE", "false")
	file := newTarget(t, nil).args[2] // its hosts have loopback addresses, by the name server
	seed := []string{"seed", "--cluster", "-c", file}
	if r := c.run("seed", "--cluster", "http://127.0.0.1:8000/"); r.exit != exitUsage ||
		!strings.Contains(r.stderr, "--allow-private") {
		t.Errorf("seed of a loopback address: exit status %d, %q; want %d and the flag", r.exit, r.stderr, exitUsage)
	}
	if r := c.run(append(seed, "--allow-private")...); r.exit != exitUsage ||
		!strings.Contains(r.stderr, "fetch.allow_private_jobs") {
		t.Errorf("seed that the node does not permit: exit status %d, %q; want %d and the setting", r.exit, r.stderr,
			exitUsage)
	}
	c.set("WHIRLPOOL_FETCH_ALLOW_PRIVATE_JOBS", "true")
	c.startNode()
	c.must(seed...)
	c.must("status", "--cluster", "--wait")
	status := func() report.Status {
		return decode[report.Status](t, c.must("status", "--cluster", "--json", "--job", "test"))
	}
	if s := status(); s.Verdicts["refused"] == 0 || s.Pages != 0 {
		t.Fatalf("%d pages, %v; want URLs that were refused\n%s", s.Pages, s.Verdicts, c.log.String())
	}
	text := c.must(seed...)
	if !strings.Contains(text, "0 seeds queued") || !strings.Contains(text, "refused (private-address)") ||
		!strings.Contains(text, "--retry") {
		t.Errorf("seed again says %q; want how the seeds ended and what to do", text)
	}
	if text = c.must("seed", "--cluster", "--job", "test", "--retry", "refused",
		"--allow-private"); !strings.Contains(text, " URLs queued again") {
		t.Errorf("seed --retry says %q", text)
	}
	c.must("status", "--cluster", "--wait")
	if s := status(); s.Pages == 0 || s.State != report.StateFinished || s.Verdicts["refused"] > s.Pages/2 {
		t.Errorf("%s, %d pages, %v after --retry; want the pages\n%s", s.State, s.Pages, s.Verdicts, c.log.String())
	}
}
