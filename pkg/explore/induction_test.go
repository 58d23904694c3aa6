package explore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestARuleIsMadeOfStoredPages(t *testing.T) {
	w := newWorld(t)
	for i := range 9 {
		path := "jobs"
		if i > 6 {
			path = "about"
		}
		body := []byte(fmt.Sprintf("<html><body><h1>Offer %d</h1><p class=pay>Pay: %d €</p><p>%d", i, 100*i, i))
		r := record(fmt.Sprintf("https://a.test/%s/%d", path, i), "Offer", "text", func(r *crawl.Record) {
			r.Digest, r.ContentType = sha256.Sum256(body), "text/html"
		})
		if i != 5 {
			w.kept[r.Digest] = body
		}
		w.pages("s-1", r)
	}
	x := w.explorer()
	caughtUp(t, x, "s-1")
	at := func(i int, pay ...string) InductionExample {
		return InductionExample{URL: fmt.Sprintf("https://a.test/jobs/%d", i), Fields: []InductionField{
			{Name: "title", Values: []string{fmt.Sprintf("Offer %d", i)}}, {Name: "pay", Values: pay}}}
	}
	ask := InductionAsk{Execution: "s-1", Name: "jobs", Examples: []InductionExample{at(1, "100"), at(3, "300")}}
	got, err := x.InduceRule(t.Context(), ask)
	if err != nil || len(got.Rule.Fields) != 2 || got.Rule.Name != "jobs" || got.Rule.Host != "a.test" ||
		!strings.Contains(got.Rule.Match, "/jobs/") {
		t.Fatalf("%+v, %v", got, err)
	}
	if got.Also != 4 || got.Fields[0].OnAlso != 4 || got.Fields[1].Rule.CSS != "p.pay" ||
		got.Fields[1].Rule.Type != "number" {
		t.Errorf("%+v", got)
	}
	ask.Sample = -1
	if none, err := x.InduceRule(t.Context(), ask); err != nil || none.Also != 0 {
		t.Errorf("without further pages: %+v, %v", none, err)
	}
	given := InductionAsk{Examples: []InductionExample{{HTML: "<h1>a",
		Fields: []InductionField{{Name: "t", Values: []string{"a"}}}},
		{HTML: "<h1>b", Fields: []InductionField{{Name: "t", Values: []string{"c"}}}}}}
	lost, err := x.InduceRule(t.Context(), given)
	if err != nil || lost.Fields[0].Found || lost.Fields[0].Lacks[0].Page != "page 2" {
		t.Errorf("of pages that were given: %+v, %v", lost, err)
	}
}

func TestInductionsThatAreRefused(t *testing.T) {
	x := newWorld(t).explorer()
	one := InductionExample{HTML: "<h1>a", Fields: []InductionField{{Name: "t", Values: []string{"a"}}}}
	for name, ask := range map[string]InductionAsk{
		"none": {}, "a page without a source": {Examples: []InductionExample{{URL: "https://a.test/"}}},
		"an address": {Examples: []InductionExample{{URL: "::", HTML: "<p>"}}},
		"no values":  {Examples: []InductionExample{{HTML: "<p>"}}}, "too many": {Examples: make([]InductionExample, 11)},
	} {
		if _, err := x.InduceRule(t.Context(), ask); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	one.HTML += strings.Repeat("<p>x</p>", 200)
	if _, err := x.InduceRule(ctx, InductionAsk{Examples: []InductionExample{one}}); err == nil {
		t.Error("who has gone gets an answer")
	}
}
