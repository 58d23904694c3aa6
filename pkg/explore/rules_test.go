package explore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestRules(t *testing.T) {
	w := newWorld(t)
	w.job.Rules = []crawl.SiteRule{{Name: "shop",
		Fields: []crawl.FieldRule{{Name: "title", CSS: "h1"}, {Name: "pay", CSS: ".pay", Type: "number"}}}}
	for i := range 6 {
		body := []byte(fmt.Sprintf("<html><body>\n<h1>Offer %d</h1>", i))
		if i%2 == 0 {
			body = append(body, "<p class=pay>12</p>"...)
		}
		r := record(fmt.Sprintf("https://a.test/%d", i), "Offer", "text",
			func(r *crawl.Record) { r.Digest = sha256.Sum256(body) })
		if i < 5 {
			w.kept[r.Digest] = body
		}
		w.pages("s-1", r)
	}
	x := w.explorer()
	caughtUp(t, x, "s-1")
	got, err := x.RecordRules(t.Context(), "s-1", "https://a.test/2")
	if err != nil || len(got.Matches) != 2 || got.Matches[0].Range.Line != 2 ||
		got.Source[got.Matches[1].Range.Start:got.Matches[1].Range.End] != "<p class=pay>12</p>" {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := x.RecordRules(t.Context(), "s-1", "https://a.test/5"); !errors.Is(err, ErrNotFound) {
		t.Errorf("without a body: %v", err)
	}
	c, err := x.CheckRules(t.Context(), RuleCheck{Execution: "s-1", Rules: w.job.Rules})
	if err != nil || c.Pages != 5 || c.NoBody != 1 || c.Fields[0].Matches != 5 || c.Fields[1].Matches != 3 ||
		len(c.Misses) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	h, err := x.TestRules(t.Context(), RuleTest{HTML: "<h1>Given</h1>", Rules: w.job.Rules})
	if err != nil || len(h.Matches) != 1 || h.Matches[0].Value != "Given" || h.Missing[0] != "shop/pay" {
		t.Fatalf("%+v, %v", h, err)
	}
	for _, bad := range []RuleTest{{}, {HTML: "x", URL: "::"},
		{HTML: "x", Rules: []crawl.SiteRule{{Fields: []crawl.FieldRule{{Name: "a", CSS: "[["}}}}}} {
		if _, err := x.TestRules(t.Context(), bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
