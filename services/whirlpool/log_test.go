package main

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// checkClusterLog compares what log, status --reasons and status say of URLs that were left out or failed.
func checkClusterLog(t *testing.T, c *clusterUnderTest) {
	s := decode[report.Status](t, c.must("status", "--cluster", "--json", "--job", "test", "--reasons"))
	checkReasons(t, &s)
	excluded := c.must("log", "--cluster", "--job", "test", "--verdict", "excluded")
	if n := strings.Count(excluded, "\n"); int64(n) < excludedOf(&s) || n != strings.Count(excluded, `"verdict":"excluded"`) {
		t.Errorf("%d lines of URLs left out, of %d\n%s", n, excludedOf(&s), excluded)
	}
	if text := c.must("log", "--cluster", "--verdict", "gone,failed", "--reason", "no-such-reason"); text != "" {
		t.Errorf("lines with a reason that is none:\n%s", text)
	}
	if r := c.run("log", "--cluster", "--verdict", "lost"); r.exit != exitUsage || !strings.Contains(r.stderr, "lost") {
		t.Errorf("a verdict that is none: exit status %d, %s", r.exit, r.stderr)
	}
	if text := c.must("status", "--cluster", "--job", "test", "--reasons"); !strings.Contains(text, "reasons   ") {
		t.Errorf("status --reasons says\n%s", text)
	}
}

// checkReasons wants the counts by reason to add up to those by verdict.
func checkReasons(t *testing.T, s *report.Status) {
	t.Helper()
	sum := map[string]int64{}
	for _, r := range s.Reasons {
		sum[r.Verdict] += r.URLs
	}
	for verdict, n := range s.Verdicts {
		if sum[verdict] != n {
			t.Errorf("%d URLs are %s by their reasons, %d in all", sum[verdict], verdict, n)
		}
	}
	if sum["excluded"] != excludedOf(s) || len(s.Reasons) == 0 {
		t.Errorf("%d URLs were left out by their reasons, %d in all", sum["excluded"], excludedOf(s))
	}
}

func TestLogAndReasonsOfADirectory(t *testing.T) {
	dir := crawled(t)
	s := decode[report.Status](t, must(t, "status", "-o", dir, "--json", "--reasons"))
	checkReasons(t, &s)
	all, gone := must(t, "log", "-o", dir), must(t, "log", "-o", dir, "--verdict", "gone")
	if n := strings.Count(gone, "\n"); int64(n) != s.Verdicts["gone"] || strings.Count(all, "\n") <= n {
		t.Errorf("%d lines of URLs that are gone, want %d, of %d lines", n, s.Verdicts["gone"], strings.Count(all, "\n"))
	}
}
