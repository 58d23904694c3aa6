package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// outputLines runs a command that is to succeed, and returns the lines of its standard output.
func outputLines(t *testing.T, args ...string) []string {
	t.Helper()
	tmp := t.TempDir()
	cmd := toStdout(t, tmp, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	empty(t, tmp)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func TestChosenKeysToStandardOutput(t *testing.T) {
	want := records(t, crawled(t))
	lines := outputLines(t, "--fields", "title,url,fields.none")
	if len(lines) != len(want) {
		t.Errorf("%d lines, want %d", len(lines), len(want))
	}
	for _, line := range lines {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		url, _ := r["url"].(string)
		if _, known := want[url]; !known || len(r) != 3 || r["fields.none"] != nil || !strings.HasPrefix(line, `{"title":`) {
			t.Errorf("line %s", line)
		}
	}
}

func TestURLsToStandardOutput(t *testing.T) {
	want := records(t, crawled(t))
	fetched, found := outputLines(t, "--urls", "fetched"), outputLines(t, "--urls", "found")
	for url := range want {
		if !slices.Contains(fetched, url) || !slices.Contains(found, url) {
			t.Errorf("%s is missing among %d fetched and %d found", url, len(fetched), len(found))
		}
	}
	for _, url := range fetched {
		if !slices.Contains(found, url) {
			t.Errorf("%s was fetched and not found", url)
		}
	}
	for _, list := range [][]string{fetched, found} {
		if slices.Sort(list); len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Error("a URL stands twice")
		}
	}
	if len(found) <= len(fetched) {
		t.Errorf("%d found, %d fetched", len(found), len(fetched))
	}
}

func TestOutputFlagsAreChecked(t *testing.T) {
	for _, args := range [][]string{
		{"--urls", "all", "http://a.test/"}, {"--urls", "found", "-o", t.TempDir(), "http://a.test/"},
		{"--fields", "nothing", "http://a.test/"}, {"--fields", "url", "--urls", "found", "http://a.test/"},
		{"--fields", "url,url", "http://a.test/"},
	} {
		cmd := newCrawl()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(args)
		if err := cmd.Execute(); err == nil {
			t.Errorf("crawl %v is accepted", args)
		}
	}
}
