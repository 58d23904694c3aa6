package postgres_test

import (
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A link of another scheme is left out and logged like any other. Every reader must be able to read it back; code that
// admits URLs again skips it.
func TestURLsOfOtherSchemesAreReadBack(t *testing.T) {
	s, ctx := open(t), context.Background()
	foreign, ok := weburl.ParseForeign("mailto:editor@example.test")
	if !ok {
		t.Fatal("not read")
	}
	page := mustParse(t, "http://a.test/")
	_, err := s.URLs().Exclude(ctx, "job", id("one"),
		[]crawl.Exclusion{{URL: foreign, Reason: crawl.ReasonScheme, Referrer: page},
			{URL: page, Reason: crawl.ReasonScope}})
	check(t, err)
	check(t, s.AttemptLog().Append(ctx,
		crawl.LogLine{Job: "job", URL: foreign, Verdict: crawl.VerdictExcluded, Reason: crawl.ReasonScheme, Referrer: page}))
	found := false
	check(t, s.URLs().Entries(ctx, "job", func(r crawl.LedgerRow) error { found = found || r.URL == foreign; return nil }))
	if !found {
		t.Error("it is not among the entries")
	}
	lines, err := s.AttemptLog().Attempts(ctx, "job", foreign.Key(), 5)
	if err != nil || len(lines) != 1 || lines[0].URL != foreign || lines[0].Referrer != page {
		t.Errorf("its log lines: %+v, %v", lines, err)
	}
	n := 0
	check(t, s.AttemptLog().Lines(ctx, "job", crawl.LogSelection{}, 0,
		func(*crawl.LogLine, int64) error { n++; return nil }))
	if n != 1 {
		t.Errorf("%d lines in the log", n)
	}
	left, err := s.URLs().LeftOut(ctx, "job", weburl.Key{}, 10)
	if err != nil || len(left) != 1 || left[0].Task.URL != page {
		t.Errorf("what may be admitted: %+v, %v; want %s alone", left, err, page)
	}
	if _, ok, err := s.URLs().WhyLeftOut(ctx, "job", foreign.Key()); err != nil || ok { // its log line says all
		t.Errorf("kept to be judged again: %v, %v", ok, err)
	}
}
