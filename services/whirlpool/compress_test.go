package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
)

// A crawl that compresses its records is killed and goes on; every command reads what it stored.
func TestACompressedCrawl(t *testing.T) {
	tg := newTarget(t, nil)
	file := filepath.Join(tg.dir, "pages.jsonl.zst")
	first := exec.Command(program, append(tg.args, "--compress", "--delay", "20ms")...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	poll(t, "records", func() bool {
		info, err := os.Stat(file)
		return err == nil && info.Size() > 20_000
	})
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	must(t, tg.args...) // without --compress: the file says it
	want, got := records(t, crawled(t)), map[string]*crawl.Record{}
	for line := range strings.Lines(must(t, "export", "--format", "jsonl", "-o", tg.dir)) {
		r, err := jsonl.ParseRecord([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if got[r.URL.String()] != nil {
			t.Errorf("%s has two records", r.URL)
		}
		got[r.URL.String()] = r
	}
	for url, r := range want {
		if g := got[url]; g == nil || g.Text != r.Text && g.DuplicateOf.IsZero() == r.DuplicateOf.IsZero() {
			t.Errorf("the record of %s is %+v, want %+v", url, g, r)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	must(t, "audit", "-o", tg.dir)
	if text := must(t, "repair", "-o", tg.dir); !strings.Contains(text, "nothing to mend") {
		t.Errorf("repair says %s", text)
	}
	if text := must(t, "status", "-o", tg.dir); !strings.Contains(text, "pages.jsonl.zst") {
		t.Errorf("status says\n%s", text)
	}
	e := decode[report.Explanation](t, must(t, "explain", "--json", "-o", tg.dir, web.Web().Seeds()[0]))
	if e.Content == nil || e.Content.Title == "" {
		t.Errorf("explain says %+v", e)
	}
	if _, err := os.Stat(filepath.Join(tg.dir, "pages.jsonl")); err == nil {
		t.Error("there is a pages.jsonl, too")
	}
	if r := whirlpool(t, append(tg.args, "--store", "jsonl")...); r.exit != exitUsage ||
		!strings.Contains(r.stderr, file) {
		t.Errorf("--store jsonl over compressed records: exit status %d, %s", r.exit, r.stderr)
	}
	r := whirlpool(t, "crawl", "--compress", "-o", crawled(t))
	if r.exit == exitOK || !strings.Contains(r.stderr, "--compress") {
		t.Errorf("--compress over lines: exit status %d, %s", r.exit, r.stderr)
	}
}
