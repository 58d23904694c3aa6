package main

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// pageWhere returns a page of the synthetic web that the shared crawl was to meet.
func pageWhere(t *testing.T, what string, want func(p fakeweb.Page) bool) fakeweb.Page {
	t.Helper()
	home := web.Web().Seeds()
	for p := range web.Web().Pages {
		inScope := slices.ContainsFunc(home[:len(home)-1], func(s string) bool { return strings.HasPrefix(p.URL, s) })
		if inScope && want(p) {
			return p
		}
	}
	t.Fatalf("the synthetic web has no page that is %s", what)
	return fakeweb.Page{}
}

func TestExplainFollowsAURLThroughEveryStep(t *testing.T) {
	dir := crawled(t)
	checkExplanations(t, func(t *testing.T, url string) report.Explanation { return explain(t, dir, url) })
}

// checkExplanations asks about URLs of every kind in a finished crawl of the test's web.
func checkExplanations(t *testing.T, explain func(t *testing.T, url string) report.Explanation) {
	plain := pageWhere(t, "plain", func(p fakeweb.Page) bool {
		return p.Status == 200 && p.Fetched() && !p.NoIndex && p.DuplicateOf == "" && p.NearDuplicateOf == "" && p.Depth > 0
	})
	redirect := pageWhere(t, "a redirect", func(p fakeweb.Page) bool { return p.RedirectTo != "" && p.Fetched() })
	gone := pageWhere(t, "gone", func(p fakeweb.Page) bool { return p.Status == 404 && p.Fetched() })
	forbidden := pageWhere(t, "forbidden", func(p fakeweb.Page) bool { return p.Disallowed })
	outside := web.Web().Seeds()[len(web.Web().Seeds())-1]
	for _, tt := range []struct {
		name, url, answer string
		check             func(e *report.Explanation) bool
	}{
		{"fetched", plain.URL, "fetched and stored", func(e *report.Explanation) bool {
			return e.Ledger.State == "done" && e.Ledger.Status == 200 && e.Content != nil && e.Robots.Allowed &&
				e.Rules.Allowed && len(e.Attempts) > 0 && e.Host.Known && len(e.Rewritten) == 0
		}},
		{"fetched, spelled otherwise", plain.URL + "#part", "fetched and stored", func(e *report.Explanation) bool {
			return e.URL.String() == plain.URL && len(e.Rewritten) > 0
		}},
		{"redirect", redirect.URL, redirect.RedirectTo, func(e *report.Explanation) bool {
			return e.Ledger.Status/100 == 3 && e.Content == nil
		}},
		{"gone", gone.URL, "404", func(e *report.Explanation) bool { return e.Ledger.Verdict == "gone" && e.Content == nil }},
		{"forbidden", forbidden.URL, "robots.txt forbids it", func(e *report.Explanation) bool {
			return !e.Robots.Allowed && e.Robots.Line > 0 && strings.HasPrefix(e.Robots.Rule, "Disallow: ") &&
				e.Robots.Status == 200
		}},
		{"out of scope", outside, "outside scope", func(e *report.Explanation) bool {
			return e.Ledger.State == "excluded" && e.Ledger.Reason == "scope" && !e.Rules.Allowed
		}},
		{"never met", web.Web().Seeds()[0] + "nobody-links-here", "would be fetched", func(e *report.Explanation) bool {
			return e.Ledger.State == "unknown" && e.Rules.Allowed && e.Rules.Depth == -1
		}},
		{"never met, out of scope", "http://elsewhere.invalid/", "would be left out", func(e *report.Explanation) bool {
			return e.Ledger.State == "unknown" && !e.Rules.Allowed && e.Robots.State == "unknown"
		}},
		{"seed", web.Web().Seeds()[0], "fetched and stored", func(e *report.Explanation) bool { return e.Rules.Seed }},
		{"robots.txt", web.Web().Seeds()[0] + "robots.txt", "for its rules",
			func(e *report.Explanation) bool { return true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := explain(t, tt.url)
			if !strings.Contains(e.Answer, tt.answer) || !tt.check(&e) {
				t.Errorf("%s\nis explained as %+v", tt.url, e)
			}
		})
	}
}

func TestExplainNamesTheOriginalOfACopy(t *testing.T) {
	dir := crawled(t)
	c := storedCopy(t, dir)
	e := explain(t, dir, c.URL.String())
	if e.Content == nil || e.Content.DuplicateOf != c.DuplicateOf || !strings.Contains(e.Answer, c.DuplicateOf.String()) {
		t.Errorf("%s, a copy of %s, is explained as %+v", c.URL, c.DuplicateOf, e)
	}
	text := must(t, "explain", "-o", dir, c.URL.String())
	for _, step := range []string{"url ", "canonical ", "rules ", "robots ", "ledger ", "log ", "content ", "host ",
		"answer "} {
		if !strings.Contains("\n"+text, "\n"+step) {
			t.Errorf("no line for %q in\n%s", step, text)
		}
	}
}

// storedCopy finds a page that was stored as a copy.
func storedCopy(t *testing.T, dir string) *crawl.Record {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		r, err := jsonl.ParseRecord(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if !r.DuplicateOf.IsZero() {
			return r
		}
	}
	t.Fatal("the crawl stored no copy")
	return nil
}
