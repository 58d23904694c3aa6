package parser

import (
	"reflect"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const posting = `<html><body><h1 class=title> Go <b>developer</b> </h1><p class=pay>$1,234.50 a month</p>
<ul class=skills><li>Go<li>SQL<li></ul><span class=posted title="2024-05-06">May 6, 2024</span><b id=remote>yes</b>
<div class=desc><p>One</p><p>Two &amp; <i>three</i></p><script>x</script></div><a href=/apply>Apply</a><a href=/jobs/2>Next</a></body></html>`

func extractFields(t *testing.T, doc string, fields ...crawl.FieldRule) (map[string]any, *crawl.Document) {
	t.Helper()
	job := testJob()
	job.Rules = []crawl.SiteRule{{Name: "jobs", Host: "example.com", Fields: fields}}
	d := handle(t, job, spool{body: doc}, testPage(t, "text/html"))
	out := map[string]any{}
	for _, f := range d.Fields {
		out[f.Name] = f.Value
	}
	return out, d
}

func TestFields(t *testing.T) {
	for _, c := range []struct {
		name string
		rule crawl.FieldRule
		want any // nil: left out
	}{
		{"css", crawl.FieldRule{CSS: "h1.title"}, "Go developer"},
		{"blocks are parted", crawl.FieldRule{CSS: ".desc"}, "One Two & three"},
		{"xpath", crawl.FieldRule{XPath: "//h1[@class='title']/b"}, "developer"},
		{"the first by xpath", crawl.FieldRule{XPath: "//li[1] | //h1/b"}, "developer"},
		{"xpath attribute", crawl.FieldRule{XPath: "//span/@title"}, "2024-05-06"},
		{"xpath string", crawl.FieldRule{XPath: "string(//h1/b)"}, "developer"},
		{"xpath number", crawl.FieldRule{XPath: "count(//li)", Type: "integer"}, 3.0},
		{"xpath boolean", crawl.FieldRule{XPath: "count(//li) > 5", Type: "bool"}, false},
		{"attribute", crawl.FieldRule{CSS: "a", Attr: "HREF"}, "/apply"},
		{"attribute that is missing", crawl.FieldRule{CSS: "h1", Attr: "href"}, nil},
		{"list", crawl.FieldRule{CSS: ".skills li", List: true}, []any{"Go", "SQL"}},
		{"list of attributes", crawl.FieldRule{XPath: "//a", Attr: "href", List: true}, []any{"/apply", "/jobs/2"}},
		{"group", crawl.FieldRule{CSS: ".pay", Regex: `a (\w+)`}, "month"},
		{"whole match", crawl.FieldRule{CSS: ".pay", Regex: `\w+$`}, "month"},
		{"no match", crawl.FieldRule{CSS: ".pay", Regex: `year`}, nil},
		{"number", crawl.FieldRule{CSS: ".pay", Type: "number"}, 1234.5},
		{"no integer", crawl.FieldRule{CSS: ".pay", Type: "integer"}, nil},
		{"date", crawl.FieldRule{CSS: ".posted", Type: "date"}, "2024-05-06T00:00:00Z"},
		{"date of an attribute", crawl.FieldRule{CSS: ".posted", Attr: "title", Type: "date"}, "2024-05-06T00:00:00Z"},
		{"bool", crawl.FieldRule{CSS: "#remote", Type: "bool"}, true},
		{"html", crawl.FieldRule{CSS: ".desc", Type: "html"}, "<p>One</p><p>Two &amp; <i>three</i></p><script>x</script>"},
		{"first that has a value", crawl.FieldRule{CSS: "p", Type: "date", XPath: ""}, nil},
		{"nothing there", crawl.FieldRule{CSS: "h6"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rule.Name = "f"
			if got, _ := extractFields(t, posting, c.rule); !reflect.DeepEqual(got["f"], c.want) {
				t.Errorf("got %#v, want %#v", got["f"], c.want)
			}
		})
	}
}

func TestDeepPageKeepsItsLinksAndSaysSo(t *testing.T) {
	doc := strings.Repeat("<div>", 1000) + "<h1>x</h1><a href=/y>z</a>"
	fields, d := extractFields(t, doc, crawl.FieldRule{Name: "f", CSS: "h1"})
	if len(fields) != 0 || len(d.Links) != 1 || len(d.Cut) != 1 || d.Cut[0] != CutDepth {
		t.Errorf("fields %v, %d links, cut %q", fields, len(d.Links), d.Cut)
	}
}

func TestValuesAreBounded(t *testing.T) {
	doc := strings.Repeat("<i>x</i>", 2*maxValues) + "<b>" + strings.Repeat("y", 2*maxValue) + "</b>"
	fields, d := extractFields(t, doc, crawl.FieldRule{Name: "i", CSS: "i", List: true},
		crawl.FieldRule{Name: "b", CSS: "b"})
	if len(fields["i"].([]any)) != maxValues || len(fields["b"].(string)) != maxValue || len(d.Cut) != 1 ||
		d.Cut[0] != CutFields {
		t.Errorf("%d values, cut %q", len(fields["i"].([]any)), d.Cut)
	}
}

func TestRulesMatchByHostAndURL(t *testing.T) {
	for _, c := range []struct {
		host, match, url string
		want             bool
	}{
		{"", "", "http://a.example/", true},
		{"Example.com", "", "http://example.com/", true},
		{"example.com", "", "http://jobs.example.com/", true},
		{"jobs.example.com", "", "http://www.jobs.example.com/", false},
		{"example.com", "", "http://notexample.com/", false},
		{"127.0.0.1:8080", "", "http://127.0.0.1:8080/", true},
		{"127.0.0.1", "", "http://127.0.0.1:8080/", true},
		{"", `/jobs/\d+$`, "http://a.example/jobs/12", true},
		{"", `/jobs/\d+$`, "http://a.example/jobs/", false},
		{"a.example", `/jobs/`, "http://b.example/jobs/", false},
	} {
		rules, err := CompileRules([]crawl.SiteRule{{Host: c.host, Match: c.match}})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(rules.matching(mustURL(t, c.url))) > 0; got != c.want {
			t.Errorf("host %q, match %q, %s: %v", c.host, c.match, c.url, got)
		}
	}
}

func TestFirstMatchingWeightCounts(t *testing.T) {
	job := testJob()
	job.Rules = []crawl.SiteRule{
		{Host: "other.example", Links: []crawl.LinkWeight{{Match: "", Weight: 1}}},
		{Links: []crawl.LinkWeight{{Match: `/jobs/`, Weight: 9}, {Match: `/(jobs|apply)`, Weight: 2}}},
	}
	var got []int
	for _, l := range handle(t, job, spool{body: posting + "<a href=/about>x</a>"}, testPage(t, "text/html")).Links {
		got = append(got, l.Weight)
	}
	if want := []int{2, 9, 0}; !reflect.DeepEqual(got, want) {
		t.Errorf("weights %v, want %v", got, want)
	}
}

func TestFieldsOfSeveralRulesJoin(t *testing.T) {
	job := testJob()
	job.Rules = []crawl.SiteRule{{Fields: []crawl.FieldRule{{Name: "a", CSS: "h6"}, {Name: "b", CSS: "b"}}},
		{Fields: []crawl.FieldRule{{Name: "a", CSS: "h1"}, {Name: "b", CSS: "h1"}}}}
	d := handle(t, job, spool{body: posting}, testPage(t, "text/html"))
	if want := []crawl.Field{{Name: "b", Value: "developer"},
		{Name: "a", Value: "Go developer"}}; !reflect.DeepEqual(d.Fields, want) {
		t.Errorf("fields %v, want %v", d.Fields, want)
	}
}

func TestMistakesInRulesAreNamed(t *testing.T) {
	for want, rule := range map[string]crawl.SiteRule{
		`rule "r": match: `:                      {Match: "("},
		`rule "r": field "": it has no name`:     {Fields: []crawl.FieldRule{{CSS: "a"}}},
		`rule "r": field "f": want either css`:   {Fields: []crawl.FieldRule{{Name: "f"}}},
		`field "f": want either css or xpath`:    {Fields: []crawl.FieldRule{{Name: "f", CSS: "a", XPath: "//a"}}},
		`rule "r": field "f": css "a[": `:        {Fields: []crawl.FieldRule{{Name: "f", CSS: "a["}}},
		`rule "r": field "f": xpath "//a[": `:    {Fields: []crawl.FieldRule{{Name: "f", XPath: "//a["}}},
		`rule "r": field "f": regex: `:           {Fields: []crawl.FieldRule{{Name: "f", CSS: "a", Regex: "("}}},
		`rule "r": field "f": type "int": want `: {Fields: []crawl.FieldRule{{Name: "f", CSS: "a", Type: "int"}}},
		`field "f": type html and attr`: {Fields: []crawl.FieldRule{{Name: "f", CSS: "a", Type: "html",
			Attr: "x"}}},
		`field "f": the rule has two fields`:       {Fields: []crawl.FieldRule{{Name: "f", CSS: "a"}, {Name: "f", CSS: "b"}}},
		`rule "r": link weight 1: weight 10: want`: {Links: []crawl.LinkWeight{{Weight: 10}}},
		`rule "r": link weight 1: error parsing`:   {Links: []crawl.LinkWeight{{Match: "(", Weight: 1}}},
	} {
		rule.Name = "r"
		if _, err := CompileRules([]crawl.SiteRule{rule}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	_, err := CompileRules([]crawl.SiteRule{{Match: "("}, {Match: ")"}})
	if err == nil || !strings.Contains(err.Error(), "rule 1: ") || !strings.Contains(err.Error(), "rule 2: ") {
		t.Errorf("error %v, want both rules named", err)
	}
}

func TestNumbersAndDates(t *testing.T) {
	for s, want := range map[string]any{"12": 12.0, "1,234": 1234.0, "1.234": 1.234, "1.234.567": 1234567.0,
		"1,234,567.8": 1234567.8, "1.234,50 €": 1234.5, "12,5 %": 12.5, "-3": -3.0, "\u22123,5": -3.5, "1 234 567": 1234567.0,
		"1\u00A0234,5": 1234.5, "10 000 or 20 000": 10000.0, "1'000": 1000.0, "7.": 7.0, "x": nil,
		"": nil, "3 items, 4": 3.0, "२,३४५.५": 2345.5, "١٬٢٣٤٫٥": 1234.5, "１２３４円": 1234.0,
		"0,999 kg": 0.999, "1234,567": 1234.567, "-0,125": -0.125, "-1,234": -1234.0, "$.75": 0.75,
		"-.5": -0.5, "No.5": 5.0, "wait...5": 5.0, "٫٥": 0.5, "-$5.20": -5.2, "\u2212€3": -3.0, "1.299,- €": 1299.0,
		"12.299,\u2013": 12299.0, "1.5,-": 1.5, "299,-": 299.0, "1.5, 2": 1.5, "Rs.1,00,000.50": 100000.5, ".": nil,
		"1.2k views": 1200.0, "3,4 Mio. €": 3.4e6, "12K": 12000.0, "1.1M": 1.1e6, "2.5B": 2.5e9, "512B": 512.0, "5 m": 5.0,
		"300 K": 300.0, "3km": 3.0, "4 GB": 4.0, "1.5万": 15000.0, "3億円": 3e8, "7 million people": 7e6, "2 crore": 2e7,
		"12 млн рублей": 1.2e7, "12 millimetres": 12.0, "2024-05-06": 2024.0} {
		if got, _ := toNumber(s); got != want {
			t.Errorf("number %q: %v, want %v", s, got, want)
		}
	}
	for s, want := range map[string]any{"2024-05-06T07:08:09+02:00": "2024-05-06T07:08:09+02:00",
		"2024-05-06": "2024-05-06T00:00:00Z", "May 6, 2024": "2024-05-06T00:00:00Z", "6 May 2024": "2024-05-06T00:00:00Z",
		"Mon, 06 May 2024 07:08:09 GMT": "2024-05-06T07:08:09Z", "06.05.2024": "2024-05-06T00:00:00Z",
		"5/6/2024": "2024-05-06T00:00:00Z", "2024-05-06 07:08": "2024-05-06T07:08:00Z", "soon": nil, "2024-13-40": nil} {
		if got, _ := toDate(s); got != want {
			t.Errorf("date %q: %v, want %v", s, got, want)
		}
	}
}
