package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

// A crawl that waits for an output alone says so, while it waits and when it is stopped.
func TestACrawlThatWaitsForAnOutputSaysSo(t *testing.T) {
	behind := delivering([]node.OutputState{{Node: "table", Place: deliver.Place{Whole: true}},
		{Node: "hook", Figures: deliver.Figures{Rows: 91}}})
	if want := "hook (91 rows so far)"; behind != want {
		t.Fatalf("delivering to %q, want %q", behind, want)
	}
	p := progress{Pages: 401, Gone: 301, Delivering: behind}
	want := "   401 pages     0.0/s  0 queued  delivering to hook (91 rows so far)  301 gone"
	if got := fit(p.parts(), 79); !p.atRest(0, 401) || got != want {
		t.Errorf("the progress is %q, want %q", got, want)
	}
	if p.Queued = 952; p.atRest(0, 401) || p.atRest(402, 401) || !p.atRest(401, 401) {
		t.Error("URLs are queued: the crawl waits for outputs alone where max_pages is met, and only there")
	}
	var out bytes.Buffer
	v := &view{screen: newScreen(&out), started: time.Now(), dir: "crawl"}
	v.end(crawlEnd{records: 401, behind: behind, tally: crawl.Tally{Claimed: 401, Pages: 401}})
	if want := "not all is delivered to hook (91 rows so far): the same command"; !strings.Contains(out.String(), want) {
		t.Errorf("the end is\n%s\nwant %q", out.String(), want)
	}
}
