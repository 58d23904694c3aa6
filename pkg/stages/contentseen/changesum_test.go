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
