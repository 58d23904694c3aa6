package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/report/tables"
)

type reports struct {
	Hosts   []tables.Host
	MIME    []tables.Count
	Status  []tables.Count
	Seeds   []tables.Seed
	Reasons []tables.Reason
}

// checkReports compares the tables with each other and with what status --reasons says.
func checkReports(t *testing.T, s *report.Status, r *reports) {
	t.Helper()
	for _, want := range s.Reasons {
		i := slices.IndexFunc(r.Reasons,
			func(got tables.Reason) bool { return got.Verdict == want.Verdict && got.Reason == want.Reason })
		if i < 0 || r.Reasons[i].URLs != want.URLs || r.Reasons[i].Example == "" {
			t.Errorf("%d URLs are %s, %s: the report has %+v", want.URLs, want.Verdict, want.Reason, r.Reasons)
		}
	}
	var done, answered, ended, remaining int64
	for _, h := range r.Hosts {
		done, ended = done+h.Done, ended+h.URLs
		if h.Remaining == nil || h.Requests < h.Done || h.Bytes <= 0 && h.Done > 0 {
			t.Errorf("host %+v", h)
		} else {
			remaining += *h.Remaining
		}
	}
	for _, c := range r.Status {
		answered += c.URLs
	}
	if done != s.Verdicts["done"] || answered < done || answered > ended || remaining > s.Open {
		t.Errorf("%d done, %d answered, %d ended, %d remaining; status has %v, %d open", done, answered, ended, remaining,
			s.Verdicts, s.Open)
	}
	if len(r.MIME) == 0 || len(r.Seeds) == 0 || r.Seeds[len(r.Seeds)-1].Status != "crawled" {
		t.Errorf("media types %v, seeds %v", r.MIME, r.Seeds)
	}
}

// checkClusterReports does so with a job of a cluster, whose web a crawl in a directory has found too.
func checkClusterReports(t *testing.T, c *clusterUnderTest, dir string) {
	s := decode[report.Status](t, c.must("status", "--cluster", "--json", "--job", "test", "--reasons"))
	r := decode[reports](t, c.must("report", "--cluster", "--job", "test", "--format", "json"))
	checkReports(t, &s, &r)
	one := decode[reports](t, must(t, "report", "-o", dir, "--format", "json"))
	if got, want := figures(&r), figures(&one); got != want {
		t.Errorf("on a cluster the figures are\n%s\nof a directory\n%s", got, want)
	}
	if text := c.must("report", "hosts", "--top", "1", "--cluster", "--job", "test"); strings.Count(text, "\n") != 3 {
		t.Errorf("the first host:\n%s", text)
	}
}

// figures are what does not depend on the port of the web or on the time.
func figures(r *reports) string {
	var text strings.Builder
	for _, c := range slices.Concat(r.MIME, r.Status) {
		fmt.Fprintf(&text, "%s %d; ", c.Name, c.URLs)
	}
	verdicts := map[string]int64{} // which link to a URL that is left out comes first, and names the reason, is chance
	for _, w := range r.Reasons {
		verdicts[w.Verdict] += w.URLs
	}
	fmt.Fprint(&text, verdicts, "; ")
	for _, h := range r.Hosts {
		fmt.Fprintf(&text, "%s %d; ", strings.Split(h.Host, ":")[0], h.URLs)
	}
	return text.String()
}

func TestReportsOfADirectory(t *testing.T) {
	dir := crawled(t)
	s := decode[report.Status](t, must(t, "status", "-o", dir, "--json", "--reasons"))
	r := decode[reports](t, must(t, "report", "-o", dir, "--format", "json"))
	checkReports(t, &s, &r)
	if rows := must(t, "report", "status", "mime", "--format", "csv", "-o", dir); !strings.HasPrefix(rows,
		"urls,bytes,status\n") ||
		!strings.Contains(rows, "\n\nurls,bytes,media type\n") {
		t.Errorf("CSV:\n%s", rows)
	}
	for _, args := range [][]string{{"weather"}, {"--format", "xml"}, {"--top", "-1"}} {
		if r := whirlpool(t, append([]string{"report", "-o", dir}, args...)...); r.exit != exitUsage {
			t.Errorf("report %v: exit status %d", args, r.exit)
		}
	}
}
