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
	if n := strings.Count(excluded, "\n"); int64(n) < excludedOf(&s) ||
		n != strings.Count(excluded, `"verdict":"excluded"`) {
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

// The lines of a directory are found by each filter as they are by looking at each line, and in pages as at once.
func TestLogFiltersAndPages(t *testing.T) {
	dir := crawled(t)
	all := strings.SplitAfter(strings.TrimSpace(must(t, "log", "-o", dir)), "\n")
	line := decode[struct{ URL, Verdict, Time string }](t, all[len(all)/2])
	host := strings.SplitN(line.URL, "/", 4)[2]
	for name, tc := range map[string]struct {
		args []string
		has  func(line string) bool
	}{
		"host": {[]string{"--host", strings.ToUpper(host)}, func(l string) bool {
			return strings.Contains(l, `{"time":"`) && strings.Contains(l, `"url":"http://`+host+`/`)
		}},
		"class": {[]string{"--status", "4xx"}, func(l string) bool { return strings.Contains(l, `"status":4`) }},
		"URL":   {[]string{"--url", line.URL}, func(l string) bool { return strings.Contains(l, `"url":"`+line.URL) }},
		"since": {[]string{"--since", line.Time},
			func(l string) bool { return decode[struct{ Time string }](t, l).Time >= line.Time }},
		"future": {[]string{"--until", "36500d"}, func(string) bool { return false }},
	} {
		want := 0
		for _, l := range all {
			if tc.has(l) {
				want++
			}
		}
		if got := strings.Count(must(t, append([]string{"log", "-o", dir}, tc.args...)...), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d", name, got, want)
		}
	}
	whole, cursor := "", "0"
	for range len(all) {
		r := whirlpool(t, "log", "-o", dir, "--limit", "500", "--cursor", cursor)
		whole += r.stdout
		var more bool
		if _, cursor, more = strings.Cut(strings.TrimSpace(r.stderr), "--cursor "); !more {
			break
		}
	}
	if whole != must(t, "log", "-o", dir) {
		t.Error("the pages of the log are not the log")
	}
	for _, bad := range [][]string{{"--status", "4x"}, {"--status", "1000"}, {"--since", "yesterday"}, {"--limit", "-1"}} {
		if r := whirlpool(t, append([]string{"log", "-o", dir}, bad...)...); r.exit != exitUsage {
			t.Errorf("%v: exit status %d, %s", bad, r.exit, r.stderr)
		}
	}
}
