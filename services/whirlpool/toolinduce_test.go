package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// boardExamples are the arguments of examples of the job board, by what is before the name of a page.
func boardExamples(before string) []string {
	return []string{"--example", before + "101.html", "title=Storage engineer", "company=Brackwater Systems", "skill=Go",
		"skill=LSM trees", "skill=Patience with disks", "posted=2026-10-05", "remote=two days a week", "apply=/apply/101",
		"--example", before + "102.html", "title=Gardener", "company=Hortus &amp; Sons", "skill=Botany",
		"skill=Early mornings", "posted=2026-09-30", "remote=no", "apply=/apply/102"}
}

// wantBoard is what the rule takes from the page that was no example.
var wantBoard = []crawl.Field{{Name: "title", Value: "Night baker"}, {Name: "company", Value: "Korst"},
	{Name: "skill", Value: []any{"Sourdough"}}, {Name: "posted", Value: "2026-08-14"}, {Name: "remote", Value: "no"},
	{Name: "apply", Value: "/apply/103"}}

// What induce prints is a job file, and a crawl with it takes from the pages what was wanted, and the like from others.
func TestInducedRulesCrawl(t *testing.T) {
	proxy, _ := jobBoards(t)
	rules := filepath.Join(t.TempDir(), "rules.yml")
	out := must(t, append([]string{"tool", "induce", "--name", "posting"},
		boardExamples(absolute(t, "testdata/jobboard/jobs.example.com/jobs")+"/")...)...)
	if err := os.WriteFile(rules, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	job, err := jobfile.Load(rules)
	if err != nil || len(job.Rules) != 1 || job.Rules[0].Name != "posting" {
		t.Fatalf("%v\n%s", err, out)
	}
	dir := filepath.Join(t.TempDir(), "jobs")
	must(t, "crawl", "-c", rules, "-o", dir, "--proxy", proxy, "--delay", "0s", "--no-sitemaps", "--quiet",
		"--keep-bodies", "http://jobs.example.com/")
	pages := records(t, dir)
	for url, want := range map[string][]crawl.Field{
		"http://jobs.example.com/jobs/101.html": {{Name: "title", Value: "Storage engineer"},
			{Name: "company", Value: "Brackwater Systems"},
			{Name: "skill", Value: []any{"Go", "LSM trees", "Patience with disks"}}, {Name: "posted", Value: "2026-10-05"},
			{Name: "remote", Value: "two days a week"}, {Name: "apply", Value: "/apply/101"}},
		"http://jobs.example.com/jobs/103.html": wantBoard,
	} {
		if r := pages[url]; r == nil || !reflect.DeepEqual(r.Fields, want) {
			t.Errorf("%s is stored as %+v\nwant fields %+v\n%s", url, r, want, out)
		}
	}
	fromStored(t, dir)
}

// fromStored makes the rule of the pages that a crawl has stored.
func fromStored(t *testing.T, dir string) {
	t.Helper()
	base := "http://jobs.example.com/jobs/"
	out := must(t, append([]string{"tool", "induce", "-o", dir}, boardExamples(base)...)...)
	for _, want := range []string{"host: jobs.example.com", `match: ^https?://[^/]+/jobs/[0-9]+\.html`, "# title: ",
		"on 1 of 1 further pages, once on 1"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	for _, tt := range []struct{ args, want string }{
		{"--example " + base + "999.html title=x", "there is no page of that address"},
		{"--example " + base + "101.html title=Storage --example " + base + "102.html title=Gardeners", `has no "Gardeners"`},
	} {
		r := whirlpool(t, append([]string{"tool", "induce", "-o", dir}, strings.Fields(tt.args)...)...)
		if r.exit != exitFailure || !strings.Contains(r.stdout+r.stderr, tt.want) {
			t.Errorf("%s: exit status %d, want %q in %s%s", tt.args, r.exit, tt.want, r.stdout, r.stderr)
		}
	}
}

func TestInduceIsUsed(t *testing.T) {
	for args, want := range map[string]string{
		"":                                 "give example pages",
		"title=x --example a.html title=x": "stands before the first --example",
		"--example a.html title":           "want FIELD=VALUE",
		"--example a.html x=1 --also .":    "there is no *.html in it",
		"--example /no/such.html x=1":      "/no/such.html",
	} {
		r := whirlpool(t, append([]string{"tool", "induce"}, strings.Fields(args)...)...)
		if r.exit == exitOK || !strings.Contains(r.stderr, want) {
			t.Errorf("%q: exit status %d, want %q in %s", args, r.exit, want, r.stderr)
		}
	}
}

func TestWantedOf(t *testing.T) {
	e := exampleFlag{pages: []string{"a", "b"}, from: []int{0, 2}}
	got, err := e.wanted([]string{"x=1", "x=2=3", "y[]=4", "z="})
	if err != nil || len(got) != 2 || len(got[0]) != 1 || got[0][0].Values[1] != "2=3" || !got[1][0].List ||
		got[1][1].Values != nil {
		t.Errorf("%+v, %v", got, err)
	}
}
