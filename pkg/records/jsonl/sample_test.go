package jsonl_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func mustURL(tb testing.TB, s string) weburl.URL {
	tb.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

var sampleTime = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

// fullRecord has every field set, and text that needs every kind of escape.
func fullRecord(tb testing.TB) *crawl.Record {
	page := mustURL(tb, "https://example.org/caf%C3%A9?q=\\a")
	return &crawl.Record{
		URL: page, FinalURL: page, Canonical: "https://example.org/café", Status: 200, FetchedAt: sampleTime, Depth: 2,
		Referrer: mustURL(tb, "https://example.org/"), ContentType: "text/html", Charset: "utf-8", Bytes: 12345,
		Digest: crawl.Digest{0: 0xAB, 31: 0xCD}, Simhash: 0x00F00DCAFE, Title: "Tom & \"Jerry\" <1940>", Lang: "de",
		Text: "tab\there\nline\u2028sep\u2029 nul\x00 bell\a Grüße, Привет, 世界 🌀",
		Links: []crawl.Link{
			{URL: mustURL(tb, "https://example.org/a"), Rel: "nofollow", Text: "A", Weight: 9, Tag: "a"},
			{URL: mustURL(tb, "https://example.org/b"), Tag: "a"},
			{Raw: "mailto:a@example.org", Text: "write", Tag: "a"},
		},
		Assets: []string{"https://example.org/x.png"},
		Fields: []crawl.Field{
			{Name: "price", Value: 19.5}, {Name: "a name", Value: "x"}, {Name: "ok", Value: true},
			{Name: "tags", Value: []any{"x", 1.0, nil}},
		},
		Similarity: "near", DuplicateOf: mustURL(tb, "https://example.org/original"), Truncated: "max-body", Insecure: true,
		Rendered: &crawl.RenderedPart{Digest: crawl.Digest{7}, At: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
			Wall: 600 * time.Millisecond, CPU: 350 * time.Millisecond, Settled: "virtual",
			Final: mustURL(tb, "https://example.org/#!"), Links: 148, Text: 9_100},
		Plugged: crawl.Plugged{Plugins: []string{"a=x/y@1.0.0"}, PluginErrors: []string{"b"}},
		Judged:  crawl.Judged{Relevance: 835, Classes: []string{"news", "shop"}},
		Cut:     []string{"links", "text"},
		Extracted: crawl.Extracted{Markdown: "# A\n\n- b", Structured: `{"jsonld":[{"@type":"Article","n":1.50}]}`,
			Author: "Ann \"A\" Bee", Published: sampleTime, Modified: sampleTime.Add(time.Hour)},
	}
}

func fullLogLine(tb testing.TB) *crawl.LogLine {
	return &crawl.LogLine{
		At: sampleTime, URL: mustURL(tb, "https://example.org/p"), Kind: crawl.KindSitemap, Verdict: crawl.VerdictRetry,
		Status: 503, Reason: "status", Detail: "503: \"again later\"", Bytes: 99, Duration: 1234567 * time.Microsecond,
		FirstByte: 250 * time.Millisecond, Attempt: 1, Depth: 3, ContentType: "text/html", Digest: crawl.Digest{1},
		Addr: netip.MustParseAddr("2001:db8::1"), Referrer: mustURL(tb, "https://example.org/"),
		Location: mustURL(tb, "https://example.org/q"),
	}
}

// typicalRecord is about 14 KB: main text of 8 KB and 60 links.
func typicalRecord(tb testing.TB, text string) *crawl.Record {
	r := fullRecord(tb)
	r.Text, r.Links = text, nil
	for len(r.Links) < 60 {
		r.Links = append(r.Links, crawl.Link{
			URL:  mustURL(tb, "https://www.example.org/section/articles/2026/"+strings.Repeat("x", len(r.Links))),
			Text: "An article",
		})
	}
	return r
}
