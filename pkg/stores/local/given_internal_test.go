package local

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// What a look gave out is known until it is put, and not where it was put while somebody looked: the look may have seen
// what was there before.
func TestGivenStates(t *testing.T) {
	pages := make([]crawl.Revisit, 3)
	for i, raw := range []string{"http://a.test/1", "http://a.test/2", "http://a.test/3"} {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		pages[i] = crawl.Revisit{URL: u, State: revisit.State{Visits: uint32(i) + 5}}
	}
	var g given
	known := func(i int) bool {
		s, ok := g.take(1, pages[i].URL.Key())
		if ok && s != pages[i].State {
			t.Errorf("page %d: %+v, want %+v", i, s, pages[i].State)
		}
		return ok
	}
	g.begin()
	g.put(1, []weburl.Key{pages[0].URL.Key()})
	g.begin() // another look, which ends first
	g.end(1, pages[1:2])
	g.end(1, pages[:2])
	if known(0) || !known(1) || known(2) {
		t.Errorf("known: %v %v %v, want the second only", known(0), known(1), known(2))
	}
	if _, other := g.take(2, pages[1].URL.Key()); other {
		t.Error("another job's page is known")
	}
	g.put(1, []weburl.Key{pages[1].URL.Key()})
	if known(1) {
		t.Error("a page that was put is known as it was")
	}
	g.begin()
	g.end(1, pages)
	if !known(0) || !known(1) {
		t.Error("a put before a look counts after it")
	}
	for range maxGiven { // the bound holds
		g.begin()
		g.end(1, pages)
	}
	if len(g.states) > maxGiven || len(g.meanwhile) > 0 {
		t.Errorf("%d states and %d pages are held", len(g.states), len(g.meanwhile))
	}
}
