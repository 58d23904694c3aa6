package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// What went wrong with a render, or with what a script wants, is not why no page was fetched.
func TestWhyNothingTellsOfPages(t *testing.T) {
	u, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	old, err := weburl.Parse("http://old.test/")
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, l := range []crawl.LogLine{{Kind: crawl.KindRender, Reason: "render-hang"},
		{Kind: crawl.KindResource, Reason: "dns"}, {Reason: "timeout"}, {Reason: crawl.ReasonScope},
		{Status: 301, Location: u}} {
		l.URL, l.At, l.Verdict = u, time.Now(), crawl.VerdictFailed
		if l.Status == 301 {
			l.URL, l.Verdict = old, crawl.VerdictDone
		}
		text = jsonl.AppendLogLine(text, &l)
	}
	log := filepath.Join(t.TempDir(), "crawl.log")
	if err := os.WriteFile(log, text, 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"http://a.test/: failed, timeout",
		"http://a.test/: failed, scope: http://old.test/ leads there, to another site: crawl that one"}
	if why, last := whyNothing(log); last.IsZero() || !slices.Equal(why, want) {
		t.Errorf("why nothing was fetched: %q", why)
	}
}
