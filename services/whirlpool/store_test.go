package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A crawl that keeps WARC files alone has no records, misses none, and has fetched the same pages.
func TestACrawlThatKeepsNoRecords(t *testing.T) {
	tg := newTarget(t, nil)
	must(t, append(tg.args, "--store", "none,warc")...)
	if info, err := os.Stat(filepath.Join(tg.dir, "pages.jsonl")); err != nil || info.Size() != 0 {
		t.Errorf("pages.jsonl: %v, %v", info, err)
	}
	if files, err := filepath.Glob(filepath.Join(tg.dir, "warc", "*.warc.gz")); err != nil || len(files) == 0 {
		t.Errorf("archives: %v, %v", files, err)
	}
	must(t, "audit", "-o", tg.dir)
	if got, want := statusOf(t, tg.dir).Pages, statusOf(t, crawled(t)).Pages; got != want {
		t.Errorf("%d pages, want %d", got, want)
	}
	if text := must(t, "explain", "-o", tg.dir, web.Web().Seeds()[0]); !strings.Contains(text, "none stored") {
		t.Errorf("explain says\n%s", text)
	}
}

func TestStoresAreChecked(t *testing.T) {
	for _, args := range [][]string{
		{"--store", "tape"}, {"--store", "none,jsonl"}, {"--store", "jsonl", "--compress"}, {"--store", "none", "-o", "-"},
		{"--store", "warc", "-o", "-"}, {"--store", "zst,none", "--urls", "found"},
	} {
		if r := whirlpool(t, append([]string{"crawl", "http://a.test/"}, args...)...); r.exit != exitUsage ||
			!strings.Contains(r.stderr, "-") {
			t.Errorf("crawl %v: exit status %d, %s", args, r.exit, r.stderr)
		}
	}
	if lines := outputLines(t, "--store", "none", "--urls",
		"fetched"); len(lines) != len(outputLines(t, "--urls", "fetched")) {
		t.Errorf("%d URLs without records", len(lines))
	}
}
