package explore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestSelectorsAreProposedFromAStoredPage(t *testing.T) {
	w := newWorld(t)
	for i := range 8 {
		body := []byte(fmt.Sprintf("<html><body><h1>Offer %d</h1><p class=pay>%d</p>", i, i))
		if i%2 == 0 {
			body = append(body, "<p class=pay>old</p>"...)
		}
		host := "a.test"
		if i == 7 {
			host = "b.test"
		}
		r := record(fmt.Sprintf("https://%s/%d", host, i), "Offer", "text", func(r *crawl.Record) {
			r.Digest, r.ContentType = sha256.Sum256(body), "text/html"
		})
		if i != 5 {
			w.kept[r.Digest] = body
		}
		w.pages("s-1", r)
	}
	x := w.explorer()
	caughtUp(t, x, "s-1")
	page := PageOf{Execution: "s-1", URL: "https://a.test/3"}
	o, err := x.Outline(t.Context(), page)
	if err != nil || len(o.Nodes) != 5 || o.Nodes[4].Tag != "p" || o.Nodes[4].Class != "pay" || o.Nodes[4].Text != "3" {
		t.Fatalf("%+v, %v", o, err)
	}
	p, err := x.ProposeSelectors(t.Context(), SelectorAsk{PageOf: page, Index: o.Nodes[4].Index})
	if err != nil || len(p.Proposals) < 3 || p.Pages != 6 || p.NoBody != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, c := range p.Proposals {
		if c.CSS == "p.pay" && (c.Here != 1 || c.Value != "3" || c.OnPages != 6 || c.Once != 2 || c.Matches != 10) {
			t.Errorf("%+v", c)
		}
	}
	given, err := x.ProposeSelectors(t.Context(), SelectorAsk{PageOf: PageOf{HTML: "<h1>x"}, Index: 3})
	if err != nil || len(given.Proposals) < 3 || given.Pages != 0 {
		t.Errorf("of a page that was given: %+v, %v", given, err)
	}
	for _, bad := range []SelectorAsk{{}, {PageOf: PageOf{HTML: "x"}, Index: 99}, {PageOf: PageOf{HTML: "x"}, Index: -1},
		{PageOf: PageOf{URL: "https://a.test/1"}}} {
		if _, err := x.ProposeSelectors(t.Context(), bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := x.Outline(t.Context(), PageOf{Execution: "s-1", URL: "https://a.test/5"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a page without a body: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.ProposeSelectors(ctx, SelectorAsk{PageOf: page, Index: 4}); err == nil {
		t.Error("who has gone gets an answer")
	}
}
