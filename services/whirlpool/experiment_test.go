package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/experiment"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestPagesOfAnExperimentAreReadOnce(t *testing.T) {
	start := time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
	var file []byte
	for i, page := range []struct {
		url      string
		after    time.Duration
		rendered *crawl.RenderedPart
	}{
		{"http://a.test/", 2 * time.Second, nil},
		{"http://a.test/replaced", 3 * time.Second, nil},
		{"http://b.test/", 500 * time.Millisecond, nil},
		{"http://a.test/replaced", 4 * time.Second, &crawl.RenderedPart{}},
	} {
		u, err := weburl.Parse(page.url)
		if err != nil {
			t.Fatal(err)
		}
		at := len(file)
		file = jsonl.AppendRecord(file, &crawl.Record{URL: u, FinalURL: u, FetchedAt: start.Add(page.after), Bytes: int64(i),
			Rendered: page.rendered})
		if i == 1 {
			record, replaced := jsonl.Mark()
			file = append(file[:at], bytes.Replace(file[at:], record, replaced, 1)...)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pages.jsonl"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	got, rendered, err := fetched(dir)
	want := []experiment.Fetched{{Host: "a.test", At: 1.5}, {Host: "b.test", At: 0, Bytes: 2},
		{Host: "a.test", At: 3.5, Bytes: 3}}
	if err != nil || rendered != 1 || len(got) != len(want) {
		t.Fatalf("%d pages, %d of them rendered, %v: want %d and 1", len(got), rendered, err, len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("page %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if _, _, err := fetched(t.TempDir()); err == nil {
		t.Error("a directory without pages is read")
	}
}
