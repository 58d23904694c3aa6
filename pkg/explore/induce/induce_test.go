package induce

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// example makes an example of a body and "field=value" in lines; "field[]=value" is a list, "field=" wants nothing.
func example(t *testing.T, url, body string, wants ...string) Example {
	t.Helper()
	e := Example{Page: Page{Name: url, Body: []byte(body)}}
	if strings.Contains(url, "://") {
		u, err := weburl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		e.URL = u
	}
	for _, w := range wants {
		name, value, _ := strings.Cut(w, "=")
		name, list := strings.CutSuffix(name, "[]")
		i := slices.IndexFunc(e.Want, func(w Wanted) bool { return w.Field == name })
		if i < 0 {
			i = len(e.Want)
			e.Want = append(e.Want, Wanted{Field: name, List: list})
		}
		if value != "" {
			e.Want[i].Values = append(e.Want[i].Values, value)
		}
	}
	return e
}

// one makes a rule of two pages for one field, and returns that field.
func one(t *testing.T, a, b Example, also ...Page) Field {
	t.Helper()
	got, err := Induce([]Example{a, b}, Options{Also: also})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Fields) != 1 {
		t.Fatalf("%d fields", len(got.Fields))
	}
	return got.Fields[0]
}

// What selectors go by, on pages as small as they can be.
func TestWhatAFieldGoesBy(t *testing.T) {
	for _, tt := range []struct {
		name, a, wantA, b, wantB string
		want                     crawl.FieldRule
	}{
		{"a class that people named, not the one beside it", `<p class="css-1x8fa0q price">12</p><p>1`, "12",
			`<p class="css-9a2b4qz price">13</p><p>2`, "13", crawl.FieldRule{CSS: "p.price"}},
		{"white space and entities", "<h1>Fish &amp;\n  chips&nbsp;now</h1>", "Fish & chips now", "<h1>Tea</h1>", "Tea",
			crawl.FieldRule{CSS: "h1"}},
		{"a value that was copied with its entities", "<h1>Fish &amp; chips</h1>", "Fish &amp; chips", "<h1>Tea</h1>", "Tea",
			crawl.FieldRule{CSS: "h1"}},
		{"soft hyphens and another composition", "<h1>Caf\u00e9 du\u00ado</h1>", "Cafe\u0301 duo", "<h1>Tea</h1>", "Tea",
			crawl.FieldRule{CSS: "h1"}},
		{"an attribute", `<time datetime="2026-01-02">a while ago</time>`, "2026-01-02",
			`<time datetime="2026-02-03">lately</time>`, "2026-02-03", crawl.FieldRule{CSS: "time", Attr: "datetime"}},
		{"a meta element", `<meta property="og:price" content="7"><p>5`, "7", `<meta property="og:price" content="8"><p>6`,
			"8", crawl.FieldRule{CSS: `[property="og:price"]`, Attr: "content"}},
		{"a number among words", `<p class=pay>Price: 12 €</p>`, "12", `<p class=pay>Price: 9 €</p>`, "9",
			crawl.FieldRule{CSS: "p.pay", Type: "number"}},
		{"an amount with its cents", `<p class=pay>Price: 12.50 €</p>`, "12.50", `<p class=pay>Price: 9.00 €</p>`, "9.00",
			crawl.FieldRule{CSS: "p.pay", Regex: `Price:\s+([0-9][0-9.,]*[0-9]|[0-9])`}},
		{"words among others", `<p class=by>A song by Ada Bee, 1990</p>`, "Ada Bee", `<p class=by>A song by Bo, 2001</p>`,
			"Bo", crawl.FieldRule{CSS: "p.by", Regex: `A\s+song\s+by\s+(.+?),`}},
		{"the cell beside its head", `<table><tr><th>Former mayor<td>Al<tr><th>Mayor<td>Bo</table>`, "Bo",
			`<table><tr><th>Mayor<td>Cy<tr><th>Area<td>1</table>`, "Cy",
			crawl.FieldRule{CSS: `th:matchesOwn(^\s*Mayor\s*:?\s*$) + td`}},
		{"a definition", `<dl><dt>Size:<dd>XL<dt>Hue:<dd>red</dl>`, "red", `<dl><dt>Hue:<dd>blue</dl>`, "blue",
			crawl.FieldRule{CSS: `dt:matchesOwn(^\s*Hue\s*:?\s*$) + dd`}},
		{"the stem of a class of CSS modules", `<div class="Card_price__a8FqZ">4</div><div>0</div>`, "4",
			`<div class="Card_price__b9GrY">5</div><div>0</div>`, "5", crawl.FieldRule{CSS: `div[class*="Card_price__"]`}},
		{"an address that the page has shorter", `<a class=next href="/b?x=1">on</a>`, "https://x.test/b?x=1",
			`<a class=next href="c">on</a>`, "https://x.test/p/c", crawl.FieldRule{CSS: "a.next", Attr: "href"}},
	} {
		f := one(t, example(t, "https://x.test/p/1", tt.a, "f="+tt.wantA),
			example(t, "https://x.test/p/2", tt.b, "f="+tt.wantB))
		tt.want.Name = "f"
		if !f.Found || f.Rule != tt.want {
			t.Errorf("%s: %+v %+v", tt.name, f.Rule, f)
		}
	}
}

// A list has the values that were given, and none of the lists beside it.
func TestLists(t *testing.T) {
	page := func(tasks, wants string) string {
		return "<h2>Tasks</h2><ul>" + tasks + "</ul><h2>You bring</h2><ul>" + wants + "</ul>"
	}
	a := example(t, "a", page("<li>x<li>y", "<li>Go<li>C"), "skill=Go", "skill=C")
	b := example(t, "b", page("<li>z", "<li>Ada"), "skill=Ada")
	f := one(t, a, b)
	if !f.Found || !f.Rule.List ||
		!reflect.DeepEqual(f.Values, []Extracted{{"a", []string{"Go", "C"}}, {"b", []string{"Ada"}}}) {
		t.Errorf("%+v", f)
	}
	single := one(t, example(t, "a", "<p class=x>1", "f[]=1"), example(t, "b", "<p class=x>2", "f=2"))
	if !single.Rule.List {
		t.Errorf("a list of one each: %+v", single.Rule)
	}
}

// Where a page is said to have no value, nothing is taken from it.
func TestAbsentValues(t *testing.T) {
	a := example(t, "a", "<div><p class=x>1</p></div>", "f=1")
	b := example(t, "b", "<section><p class=x>2</p></section>", "f=")
	f := one(t, a, b)
	if !f.Found || len(f.Values[1].Values) != 0 || f.Rule.CSS == "p.x" {
		t.Errorf("%+v", f)
	}
}

// Of selectors that do as well on the examples, further pages choose the one that lasts.
func TestFurtherPages(t *testing.T) {
	body := func(label, rest string) string {
		return fmt.Sprintf("<div><span>%s</span><span>Ada %s</span></div><p>%s</p><p>%s</p>", label, rest, rest, rest)
	}
	a, b := example(t, "a", body("Dr.", "Bee"), "f=Ada Bee"), example(t, "b", body("Dr.", "Cox"), "f=Ada Cox")
	if f := one(t, a, b); !strings.Contains(f.Rule.CSS, "Dr") {
		t.Fatalf("without further pages: %+v: this test shows nothing", f.Rule)
	}
	var also []Page
	for i := range 20 {
		also = append(also, Page{Name: "also", Body: []byte(body([]string{"Dr.", "Mr.", "Ms."}[i%3], fmt.Sprint("Doe", i)))})
	}
	f := one(t, a, b, also...)
	if strings.Contains(f.Rule.CSS, "Dr") || f.OnAlso != 20 || f.Agree <= 0 || len(f.Others) == 0 {
		t.Errorf("with further pages: %+v", f)
	}
}

// Pages of two kinds: a selector of two parts.
func TestTwoKindsOfPages(t *testing.T) {
	f := one(t, example(t, "a", "<h1>T</h1><p class=sale>12</p><i>1</i><i>2</i>", "f=12"),
		example(t, "b", "<h1>T</h1><b class=usual>13</b><i>1</i><i>2</i>", "f=13"))
	if !f.Found || !strings.Contains(f.Rule.CSS, ", ") {
		t.Errorf("%+v", f)
	}
}

func TestWhatIsNotThereIsTold(t *testing.T) {
	f := one(t, example(t, "a", "<h1>Night baker in Gouda</h1><p>Other</p>", "f=Night bakers of Gouda"),
		example(t, "b", "<h1>Gardener</h1>", "f=Gardener"))
	if f.Found || len(f.Lacks) != 1 || f.Lacks[0].Page != "a" ||
		!slices.Contains(f.Lacks[0].Nearest, "Night baker in Gouda") {
		t.Errorf("%+v", f)
	}
	f = one(t, example(t, "a", "<p>x</p><p>y</p>", "f=y", "f=x"), example(t, "b", "<p>z", "f=z"))
	if f.Found || len(f.Lacks) != 0 {
		t.Errorf("values in another order than the page's: %+v", f)
	}
}

func TestConditions(t *testing.T) {
	for _, tt := range []struct{ urls, host, match, like, unlike string }{
		{"https://a.test/jobs/1 https://a.test/jobs/22", "a.test", `^https?://[^/]+/jobs/[0-9]+/?(?:[?#]|$)`,
			"https://a.test/jobs/3?x", "https://a.test/jobs/new"},
		{"https://a.test/p/x.html https://a.test/p/y.html", "a.test", `^https?://[^/]+/p/[^/?#]+\.html/?(?:[?#]|$)`,
			"https://a.test/p/z.html", "https://a.test/p/z.php"},
		{"https://a.test/p/x https://a.test/p/y/z", "a.test", `^https?://[^/]+/p/`, "https://a.test/p/q",
			"https://a.test/q/p"},
		{"https://x.a.example/p/1 https://y.a.example/p/2", "a.example", `^https?://[^/]+/p/[0-9]+/?(?:[?#]|$)`, "", ""},
		{"https://a.test/x https://a.test/y", "a.test", "", "", "https://a.test/x"},
		{"https://a.test/x https://b.test/y", "", "", "", "https://a.test/x"},
	} {
		var examples []Example
		var urls []weburl.URL
		for _, u := range strings.Fields(tt.urls) {
			e := example(t, u, "<h1>T</h1>", "f=T")
			examples, urls = append(examples, e), append(urls, e.URL)
		}
		got, err := Induce(examples, Options{})
		if err != nil || got.Rule.Host != tt.host || got.Rule.Match != tt.match {
			t.Errorf("%s: %q %q, %v", tt.urls, got.Rule.Host, got.Rule.Match, err)
		}
		is := Alike(urls)
		for u, want := range map[string]bool{tt.like: true, tt.unlike: false} {
			if parsed, err := weburl.Parse(u); u != "" && (err != nil || is(parsed) != want) {
				t.Errorf("%s: %s is like them: %v, %v", tt.urls, u, !want, err)
			}
		}
	}
}

func TestQuestionsThatAreRefused(t *testing.T) {
	good := example(t, "a", "<p>x", "f=x")
	deep := example(t, "a", strings.Repeat("<div>", 600), "f=x")
	long := good
	long.Want = []Wanted{{Field: "f", Values: []string{strings.Repeat("x", MaxValue+1)}}}
	none := good
	none.Want = []Wanted{{Field: "f"}}
	for name, examples := range map[string][]Example{"none": nil,
		"too many": slices.Repeat([]Example{good}, MaxExamples+1), "no field": {{Page: good.Page}},
		"deep": {deep}, "long": {long}, "no value": {none}} {
		if _, err := Induce(examples, Options{}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	big := example(t, "a", strings.Repeat("<p>y</p>", 200)+"<p>x", "f=x")
	if _, err := Induce([]Example{big}, Options{Stop: ctx.Err}); !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone gets an answer: %v", err)
	}
}

// taken is what a rule takes from a page as the crawl applies it.
func taken(t *testing.T, rule crawl.SiteRule, e *Example) map[string][]string {
	t.Helper()
	rules, err := parser.CompileRules([]crawl.SiteRule{rule})
	if err != nil {
		t.Fatalf("the rule is not accepted: %v\n%+v", err, rule)
	}
	got := map[string][]string{}
	tree, err := parse(&e.Page)
	if err != nil {
		t.Fatal(err)
	}
	rules.Trace(e.URL, tree.root, func(v parser.Traced) bool {
		got[v.Field] = append(got[v.Field], fold(parser.TextOfValue(v.Value)))
		return true
	})
	return got
}

// Whatever a page is and whatever is wanted of it: what is said to be taken is what a crawl takes, and the same again.
func FuzzInduce(f *testing.F) {
	f.Add("<h1>x</h1><p class='a b'>Price: 12 €", "12", "<h1>y</h1><p class='a c'>Price: 13 €", "13")
	f.Add("<table><tr><th>A(<td>1<tr><th>B<td>2", "1", "<table><tr><th>A(<td>3", "3")
	f.Add("<a href='/x?y=1&amp;z' data-\x01='q'>\u00ad é</a>", "/x?y=1&z", "<a href=/w>", "/w")
	f.Add("<svg viewBox='0 0'><linearGradient id=a>x</svg>", "x", "<svg><linearGradient>y", "y")
	f.Fuzz(func(t *testing.T, a, wantA, b, wantB string) {
		ask := []Example{{Page{Name: "a", Body: []byte(a)}, []Wanted{{Field: "f", Values: []string{wantA}}}},
			{Page{Name: "b", Body: []byte(b)}, []Wanted{{Field: "f", Values: []string{wantB}}}}}
		got, err := Induce(ask, Options{Also: []Page{{Body: []byte(b + a)}}})
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		if again, err := Induce(ask, Options{Also: []Page{{Body: []byte(b + a)}}}); err != nil ||
			!reflect.DeepEqual(got, again) {
			t.Fatalf("another answer: %+v, %v", again, err)
		}
		if field := got.Fields[0]; field.Found {
			for i := range ask {
				if v := taken(t, got.Rule, &ask[i])["f"]; !slices.Equal(v, field.Values[i].Values) || len(v) != 1 {
					t.Errorf("%s: the crawl takes %q, told was %q", ask[i].Name, v, field.Values[i].Values)
				}
			}
		}
	})
}
