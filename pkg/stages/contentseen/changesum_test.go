package contentseen

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func docOf(t *testing.T, text string, links ...string) *crawl.Document {
	t.Helper()
	d := &crawl.Document{Title: "Offers", Text: text,
		Page: crawl.Page{Task: crawl.Task{URL: mustURL(t, "http://www.a.example/list")}}}
	for _, l := range links {
		d.Links = append(d.Links, crawl.Link{URL: mustURL(t, l)})
	}
	return d
}

// What changes at each look is no change, and what people would call one is.
func TestChangeSumCountsWhatPeopleWould(t *testing.T) {
	base := "We sell three kinds of bread and deliver on Monday, 12 May 2026. Updated 3 minutes ago."
	const a, b = "http://www.a.example/one", "http://shop.a.example/two"
	sum := ChangeSum(docOf(t, base, a, b))
	for name, c := range map[string]struct {
		doc  *crawl.Document
		same bool
	}{
		"the same": {docOf(t, base, a, b), true},
		"another date": {docOf(t, strings.Replace(base, "Monday, 12 May 2026", "Dienstag, 3. Juni 2027", 1), a,
			b), true},
		"another age":              {docOf(t, strings.Replace(base, "3 minutes ago", "17 hours ago", 1), a, b), true},
		"an age in words":          {docOf(t, strings.Replace(base, "3 minutes ago", "an hour ago", 1), a, b), true},
		"another in words":         {docOf(t, strings.Replace(base, "3 minutes ago", "two days ago", 1), a, b), true},
		"this moment":              {docOf(t, strings.Replace(base, "3 minutes ago", "just now", 1), a, b), true},
		"white space and case":     {docOf(t, strings.ToUpper(strings.ReplaceAll(base, " ", "  \n")), a, b), true},
		"links in another order":   {docOf(t, base, b, a, a), true},
		"a link to another site":   {docOf(t, base, a, b, "http://ads.example/x"), true},
		"digits in a link's query": {docOf(t, base, a+"?t=17", b), false}, // the query is new
		"another word":             {docOf(t, strings.Replace(base, "bread", "cake", 1), a, b), false},
		"a word more":              {docOf(t, base+" Hello.", a, b), false},
		"a new link":               {docOf(t, base, a, b, "http://www.a.example/three"), false},
		"an article with a number": {docOf(t, base, a, b, "http://www.a.example/article/17"), false},
		"a link less":              {docOf(t, base, a), false},
		"nothing":                  {docOf(t, ""), false},
		"another title": {func() *crawl.Document { d := docOf(t, base, a, b); d.Title = "Sold"; return d }(),
			false},
		"a field that a rule took": {func() *crawl.Document {
			d := docOf(t, base, a, b)
			d.Fields = []crawl.Field{{Name: "price", Value: "12"}}
			return d
		}(), false},
		"no text, but the same sum?": {docOf(t, "12 13 14"), false},
	} {
		if got := ChangeSum(c.doc); (got == sum) != c.same || got == 0 {
			t.Errorf("%s: sum %x, that of before %x, want the same: %v", name, got, sum, c.same)
		}
	}
	one, two := docOf(t, base, a+"?t=17"), docOf(t, base, a+"?t=18")
	if ChangeSum(one) != ChangeSum(two) {
		t.Error("digits in the query of a link count")
	}
}

// Links that are made anew for each visitor are the same links, and other words in a query are not.
func TestChangeSumKnowsTokens(t *testing.T) {
	const base = "http://www.a.example/one"
	sum := func(link string) uint64 { return ChangeSum(docOf(t, "a text", base+link)) }
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"?do=out&csrf=2aae6c35c94fcfb415dbe95f408b9ce9", "?do=out&csrf=76c2436b593f27aa073f0b2404531b8d", true},
		{"?t=0b5c7d5e-41f4-4a36-9d2e-9b2f1c6a7e55", "?t=f3a1d8c2-77aa-4c1b-8e2d-4b9c0d1e2f33", true},
		{";token=9A1F00C2D3E4B5A69788/x", ";token=10FF21D0A3B4C5D6E7F8/x", true},
		{";token=9A1F00C2D3E4B5A69788/x", ";token=10FF21D0A3B4C5D6E7F8/y", false},
		{"?q=how-to-install-python-3-on-debian", "?q=how-to-install-python-3-on-ubuntu", false},
		{"?q=2aae6c35c94fcfb4", "?p=2aae6c35c94fcfb4", false},
	} {
		if got := sum(c.a) == sum(c.b); got != c.same {
			t.Errorf("%s and %s: the same: %v", c.a, c.b, got)
		}
	}
}

func TestNearTellsSmallChangesFromGreatOnes(t *testing.T) {
	words := strings.Repeat("some text about bread and cake and many other things that a baker sells in a small town "+
		"near the sea ", 20)
	sum := ChangeSum(docOf(t, words))
	if !Near(sum, ChangeSum(docOf(t, words+"advert"))) {
		t.Error("a word more is no small change")
	}
	if Near(sum, ChangeSum(docOf(t, "quite another text of a few words"))) || Near(sum, 0) {
		t.Error("another text is a small change")
	}
}

func FuzzChangeSum(f *testing.F) {
	f.Add("3 minutes ago", "May 12")
	f.Add("\xff\x00", "Ünïcode 5")
	u, err := weburl.Parse("http://a.example/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, more string) {
		d := &crawl.Document{Text: text, Page: crawl.Page{Task: crawl.Task{URL: u}}}
		one := ChangeSum(d)
		if one == 0 || one != ChangeSum(d) {
			t.Fatalf("%x, then %x", one, ChangeSum(d))
		}
		d.Text = text + " 12345 " + more
		two := ChangeSum(d)
		d.Text = text + " 67890 12 " + more
		if two != ChangeSum(d) {
			t.Fatalf("%q and other numbers: %x, then %x", d.Text, two, ChangeSum(d))
		}
	})
}
