package expr_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/expr"
)

func aDocument() *plugin.Document {
	return &plugin.Document{URL: "https://shop.test/p/1?q=2", Host: "shop.test", Path: "/p/1", Depth: 3, Status: 200,
		Title: "A lamp", Lang: "en", Text: strings.Repeat("word ", 6000), ContentType: "text/html",
		Fields: map[string]any{"price": 12.5, "tags": []any{"x", "y"}}}
}

func links(n int) *plugin.Links {
	l := &plugin.Links{URL: "https://shop.test/", Host: "shop.test", Path: "/"}
	for range n {
		l.Links = append(l.Links, plugin.Link{URL: "https://shop.test/p/1", Text: "A lamp", Tag: "a"})
	}
	return l
}

func TestExpressionsSeeTheirMessage(t *testing.T) {
	for _, c := range []struct {
		message plugin.Message
		text    string
		want    bool
	}{
		{aDocument(), `doc.path startsWith "/p/"`, true},
		{aDocument(), `doc.lang in ["en", "de"] and doc.depth < 4`, true},
		{aDocument(), `doc.fields.price > 20`, false},
		{aDocument(), `doc.fields["none"] == nil`, true},
		{aDocument(), `any(doc.fields.tags, # == "y")`, true},
		{aDocument(), `doc.url matches "^https://[a-z.]+/p/[0-9]+"`, true},
		{aDocument(), `len(doc.text) > 100 and replace(doc.title, "lamp", "shoe") == "A shoe"`, true},
		{aDocument(), `join(["a", "b"], "-") == "a-b" and repeat("x", 3) == "xxx"`, true},
		{links(3), `count(links.links, .tag == "a") == 3`, true},
		{&plugin.Request{URL: "https://a.test/", Kind: "page"}, `req.kind == "page" and not req.seed`, true},
		{&plugin.Response{ContentType: "text/html; charset=x"}, `resp.content_type startsWith "text/html"`, true},
		{&plugin.Record{Lang: "fr"}, `record.lang in ["en", "de"]`, false},
		{&plugin.Seeds{Seeds: []plugin.Seed{{URL: "https://a.test/"}}}, `seeds.seeds[0].url endsWith "/"`, true},
		{&plugin.Delivery{Record: &plugin.Record{Lang: "en"}}, `delivery.record.lang == "en" and record.lang == "en"`, true},
	} {
		p, err := expr.Compile(c.message.Point(), c.text, expr.AsBool())
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got, err := p.Bool(c.message); err != nil || got != c.want {
			t.Errorf("%s: %v, %v; want %v", c.text, got, err, c.want)
		}
	}
}

func TestPartsOfAMessage(t *testing.T) {
	l := links(2)
	l.Links[1].Text = "other"
	p, err := expr.Compile(crawl.AtLinks, `link.text == "other" and links.host == "shop.test"`, expr.AsBool(), expr.Each())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true} {
		if got, err := p.BoolAt(l, i); err != nil || got != want {
			t.Errorf("link %d: %v, %v", i, got, err)
		}
	}
	if _, err := p.BoolAt(l, 2); err == nil {
		t.Error("there is a link 2")
	}
}

func TestFaultsAreToldWithTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		`doc.langs == "en"`:             "column 5",
		`doc.lang == `:                  "column",
		`record.lang == "en"`:           "column 1",
		`doc.depth + "a" == "b"`:        "column",
		`doc.title`:                     "bool",
		`doc.title matches doc.text`:    "written out",
		`now().Year() > 3`:              "now",
		`$env != nil`:                   "$env",
		`doc.text matches "("`:          "",
		strings.Repeat("(", 3000) + "1": "",
		strings.Repeat("x", 5000):       "4096",
		"true and\n doc.none":           "line 2",
	} {
		_, err := expr.Compile(crawl.AtDocument, text, expr.AsBool())
		if bad := (*expr.Error)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v; want %q in it", text, err, want)
		}
	}
	if _, err := expr.Compile("nowhere", "true"); err == nil {
		t.Error("there is a point nowhere")
	}
}

// Whatever an expression does, it ends soon and takes little memory.
func TestEvaluationsAreBounded(t *testing.T) {
	for name, text := range map[string]string{
		"range":        `len(1..100000000) > 1`,
		"loops":        `count(links.links, count(links.links, count(links.links, .url == "x") > 0) > 0) > 0`,
		"doubling":     `len(reduce(1..60, #acc + #acc, "x")) > 1`,
		"repeat":       `len(repeat("x", 1000000000)) > 1`,
		"replace":      `len(reduce(1..40, replace(#acc, "x", "xx"), "x")) > 1`,
		"join":         `len(reduce(1..60, join([#acc, #acc]), "x")) > 1`,
		"lists":        `len(reduce(1..60, concat(#acc, #acc), [1])) > 1`,
		"nested lists": `len(toJSON(reduce(1..60, [#acc, #acc], [1]))) > 1`,
	} {
		p, err := expr.Compile(crawl.AtLinks, text, expr.AsBool())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		start := time.Now()
		if _, err := p.Bool(links(6000)); err == nil {
			t.Errorf("%s: it ended with a value", name)
		}
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}

func TestWhatIsNotTrueOrFalse(t *testing.T) {
	p, err := expr.Compile(crawl.AtDocument, `doc.fields.price`, expr.AsBool())
	if err != nil {
		t.Skip("the types tell it already")
	}
	if _, err := p.Bool(aDocument()); err == nil {
		t.Error("a number is taken for true or false")
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{`doc.lang == "en"`, `any(doc.fields.tags, # == 1)`, `doc.text matches "a+"`, `{"a": 1}.a`,
		`[1,2][0] > doc.depth`, `let x = 1; x == 1`} {
		f.Add(s)
	}
	d := aDocument()
	f.Fuzz(func(t *testing.T, text string) {
		p, err := expr.Compile(crawl.AtDocument, text)
		if err != nil {
			return
		}
		a, errA := p.Value(d)
		b, errB := p.Value(d)
		if (errA == nil) != (errB == nil) {
			t.Errorf("%q: %v, %v once, and then %v, %v", text, a, errA, b, errB)
		}
	})
}

func BenchmarkBool(b *testing.B) {
	for name, text := range map[string]string{"simple": `doc.lang == "en" and doc.depth < 5`,
		"regexp": `doc.url matches "/p/[0-9]+"`, "text": `doc.text contains "nowhere"`} {
		b.Run(name, func(b *testing.B) {
			p, err := expr.Compile(crawl.AtDocument, text, expr.AsBool())
			if err != nil {
				b.Fatal(err)
			}
			d := aDocument()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Bool(d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
