package ruletest

import (
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/parser"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const page = `<!doctype html>
<html><head><title>Äpfel &amp; mehr</title></head>
<body>
  <div class="offer" id=o1><h2>Röd <b>apple</b></h2><span class=price>1,50 EUR</span></div>
  <div class="offer"><h2>Pear</h2><img src=pear.png/><span class=price>none</span>
  <p>open paragraph
  <table><tr><td class=cell>moved
</body></html>
`

func field(name, css string) crawl.FieldRule { return crawl.FieldRule{Name: name, CSS: css} }

func TestRun(t *testing.T) {
	rules := []crawl.SiteRule{
		{Name: "offers", Fields: []crawl.FieldRule{{Name: "title", CSS: ".offer h2", List: true},
			{Name: "pay", CSS: ".price", Type: "number"}, field("none", ".nothing"), {Name: "img", XPath: "//img/@src"},
			field("cell", "td"), {Name: "count", XPath: "count(//h2)"}, {Name: "html", CSS: "h2", Type: "html"},
			field("name", "title")}},
		{Name: "second", Fields: []crawl.FieldRule{field("title", "title")}},
		{Name: "other", Host: "b.test", Fields: []crawl.FieldRule{field("x", "h2")}},
	}
	u, _ := weburl.Parse("https://a.test/")
	r, err := Run(rules, nil, &Page{URL: u, Type: "text/html", Body: []byte(page)})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(r.Missing, " ") != "offers/none" || strings.Join(r.Others, " ") != "other" {
		t.Errorf("missing %v, others %v", r.Missing, r.Others)
	}
	want := []struct {
		field  string
		value  any
		source string
		line   int
		column int
	}{
		{"title", "Röd apple", "<h2>Röd <b>apple</b></h2>", 4, 28},
		{"title", "Pear", "<h2>Pear</h2>", 5, 22},
		{"pay", 1.5, "<span class=price>1,50 EUR</span>", 4, 53},
		{"img", "pear.png/", "<img src=pear.png/>", 5, 35},
		{"cell", "moved", "<td class=cell>moved\n", 7, 14},
		{"count", "2", "", 0, 0},
		{"html", "Röd <b>apple</b>", "<h2>Röd <b>apple</b></h2>", 4, 28},
		{"name", "Äpfel & mehr", "<title>Äpfel &amp; mehr</title>", 2, 13},
		{"title", "Äpfel & mehr", "<title>Äpfel &amp; mehr</title>", 2, 13},
	}
	if len(r.Matches) != len(want) {
		t.Fatalf("%d matches: %+v", len(r.Matches), r.Matches)
	}
	for i, w := range want {
		m := r.Matches[i]
		if m.Field != w.field || m.Value != w.value {
			t.Errorf("%d: %s is %v, want %v", i, m.Field, m.Value, w.value)
		}
		if m.Range == nil {
			if w.source != "" {
				t.Errorf("%s has no place", w.field)
			}
			continue
		}
		if got := page[m.Range.Start:m.Range.End]; got != w.source || m.Range.Line != w.line || m.Range.Column != w.column {
			t.Errorf("%s stands at %d:%d: %q; want %d:%d: %q", w.field, m.Range.Line, m.Range.Column, got, w.line, w.column,
				w.source)
		}
	}
	if last := r.Matches[len(want)-1]; last.Taken || !r.Matches[0].Taken ||
		r.Matches[0].Path != "html > body > div#o1.offer > h2" {
		t.Errorf("%+v", r.Matches)
	}
}

// Values are those that the crawl takes.
func TestValuesAreTheCrawlsOwn(t *testing.T) {
	rules := []crawl.SiteRule{{Fields: []crawl.FieldRule{field("a", "h2"), {Name: "b", CSS: ".price", Type: "number"},
		{Name: "c", CSS: "h2", Regex: "P(.)", List: true}, {Name: "d", XPath: "//td/text()"}}}}
	u, _ := weburl.Parse("https://a.test/")
	compiled, err := parser.CompileRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	fields, _ := compiled.Fields(&crawl.Record{URL: u, ContentType: "text/html", Charset: "utf-8"}, []byte(page))
	r, err := Run(rules, nil, &Page{URL: u, Type: "text/html", Body: []byte(page)})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		want := f.Value
		if list, ok := want.([]any); ok {
			want = list[0]
		}
		found := false
		for _, m := range r.Matches {
			found = found || m.Field == f.Name && m.Value == want
		}
		if !found {
			t.Errorf("%s is %v in the crawl: %+v", f.Name, f.Value, r.Matches)
		}
	}
}

func TestPolicies(t *testing.T) {
	policies := []crawl.Policy{{Name: "offers", CSS: ".offer",
		Fields: []crawl.PolicyField{{Name: "title", CSS: "h2"}, {Name: "pay", CSS: ".price", Type: "number"}}},
		{Name: "words", Keywords: []string{"apple"}}, {Name: "json", JSONPointer: "/items"}, {Name: "nothing", Regex: "xyz"}}
	r, err := Run(nil, policies, &Page{Type: "text/html", Body: []byte(page), Text: "an apple a day"})
	if err != nil || len(r.Matches) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	if o, ok := r.Matches[0].Value.(map[string]any); !ok || o["pay"] != 1.5 || r.Matches[0].Range.Line != 4 ||
		r.Matches[1].Range.Line != 5 || r.Matches[2].Range != nil {
		t.Errorf("%+v", r.Matches)
	}
	if strings.Join(r.Missing, " ") != "nothing" || strings.Join(r.Others, " ") != "json" {
		t.Errorf("missing %v, others %v", r.Missing, r.Others)
	}
	r, err = Run(nil, policies, &Page{Type: "application/json", Body: []byte(`{"items":[{"a":1},{"a":2}]}`)})
	if err != nil || len(r.Matches) != 2 || r.Matches[0].Field != "json" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestFaultsOfRules(t *testing.T) {
	_, err := Run([]crawl.SiteRule{{Fields: []crawl.FieldRule{field("x", "[[")}}}, nil,
		&Page{Type: "text/html", Body: []byte(page)})
	if err == nil || !strings.Contains(err.Error(), `field "x"`) {
		t.Error(err)
	}
}

func FuzzPlaces(f *testing.F) {
	f.Add([]byte(page))
	f.Add([]byte("<a><b></a></b><svg><title><b>x</title></svg><table><a>x<td>y<script><h2></script>"))
	f.Add([]byte("<h2 <h2/h2><p/></p x><!--<h2>--><h2"))
	rules := []crawl.SiteRule{{Fields: []crawl.FieldRule{{Name: "all", CSS: "*", List: true, Type: "html"}}}}
	f.Fuzz(func(t *testing.T, doc []byte) {
		r, err := Run(rules, nil, &Page{Type: "text/html", Body: doc})
		if err != nil {
			return
		}
		for _, m := range r.Matches {
			if m.Range == nil {
				continue
			}
			if m.Range.Start < 0 || m.Range.End > len(doc) || m.Range.Start >= m.Range.End || doc[m.Range.Start] != '<' ||
				m.Range.Line < 1 || m.Range.Column < 1 {
				t.Errorf("%+v of %d bytes", m.Range, len(doc))
			}
			if s, _ := m.Value.(string); strings.Contains(s, mark) && !strings.Contains(string(doc), mark) {
				t.Errorf("a value has the mark: %q", s)
			}
		}
	})
}
