package main

import (
	"os"
	"path/filepath"
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
	var text []byte
	for _, l := range []crawl.LogLine{{Kind: crawl.KindRender, Reason: "render-hang"},
		{Kind: crawl.KindResource, Reason: "dns"}, {Reason: "timeout"}} {
		l.URL, l.At, l.Verdict = u, time.Now(), crawl.VerdictFailed
		text = jsonl.AppendLogLine(text, &l)
	}
	log := filepath.Join(t.TempDir(), "crawl.log")
	if err := os.WriteFile(log, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if why, last := whyNothing(log); last.IsZero() || len(why) != 1 || why[0] != "http://a.test/: failed, timeout" {
		t.Errorf("why nothing was fetched: %q", why)
	}
}
