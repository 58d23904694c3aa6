package parser

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const offers = `<html><title>Offers</title><main>
<article class=offer id=o1><h2>Go <b>Developer</b></h2><p class=pay>1.500,50 EUR</p><a href=/1>x</a><ul><li>a<li>b</ul></article>
<article class=offer id=o2><h2>Clerk</h2><p class=pay>on request</p></article>
<article class=other><h2>None</h2></article></main></html>`

// selectFrom makes a document of a body and returns its fields as JSON.
func selectFrom(t *testing.T, contentType, body string,
	policies ...crawl.Policy) (fields map[string]string, cut []string) {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Select = "j", []string{"http://www.example.com/"}, policies
	if err := job.Validate(); err != nil {
		t.Fatal(err)
	}
	rules, err := rulesOf(&job)
	if err != nil {
		t.Fatal(err)
	}
	page := &crawl.Page{Task: crawl.Task{URL: mustURL(t, "http://www.example.com/offers/1")}, ContentType: contentType}
	d := document(page, []byte(body), &job, rules)
	fields = map[string]string{}
	for _, f := range d.Fields {
		data, err := json.Marshal(f.Value)
		if err != nil {
			t.Fatal(err)
		}
		fields[f.Name] = string(data)
	}
	return fields, d.Cut
}

func TestPoliciesSelect(t *testing.T) {
	title := crawl.PolicyField{Name: "title", CSS: "h2"}
	for name, tc := range map[string]struct {
		media, body string
		p           crawl.Policy
		want        string
	}{
		"css": {"text/html", offers, crawl.Policy{CSS: ".offer",
			Fields: []crawl.PolicyField{title, {Name: "pay", CSS: ".pay", Type: "number"},
				{Name: "id", Attr: "id"}, {Name: "list", XPath: ".//li", List: true},
				{Name: "cents", CSS: ".pay", Regex: ",([0-9]+)"}}},
			`[{"cents":"50","id":"o1","list":["a","b"],"pay":1500.5,"title":"Go Developer"},{"id":"o2","title":"Clerk"}]`},
		"text": {"text/html", offers, crawl.Policy{CSS: "h2"},
			`[{"text":"Go Developer"},{"text":"Clerk"},{"text":"None"}]`},
		"xpath": {"text/html", offers, crawl.Policy{XPath: "//article[@id='o2']", Fields: []crawl.PolicyField{title}},
			`[{"title":"Clerk"}]`},
		"nothing":     {"text/html", offers, crawl.Policy{CSS: ".nobody"}, ""},
		"host":        {"text/html", offers, crawl.Policy{CSS: "#o2 h2", Host: "example.com"}, `[{"text":"Clerk"}]`},
		"other host":  {"text/html", offers, crawl.Policy{CSS: "#o2 h2", Host: "example.org"}, ""},
		"match":       {"text/html", offers, crawl.Policy{CSS: "#o2 h2", Match: "/offers/"}, `[{"text":"Clerk"}]`},
		"other match": {"text/html", offers, crawl.Policy{CSS: "#o2 h2", Match: "/news/"}, ""},
		"types":       {"text/html", offers, crawl.Policy{CSS: "#o2 h2", Types: []string{"text/*"}}, `[{"text":"Clerk"}]`},
		"other types": {"text/html", offers, crawl.Policy{CSS: "#o2 h2", Types: []string{"application/xhtml+xml"}}, ""},
		"css of text": {"text/plain", offers, crawl.Policy{CSS: "h2"}, ""},
		"json": {"application/vnd.api+json; charset=utf-8", "\ufeff" +
			`{"items":[{"id":7,"ok":true,"tags":["a",2,{"b":[]}],"pay":"1,5","sub":{"x" : null}},{"id":"8","sub":{"x":1}},3]}`,
			crawl.Policy{JSONPointer: "/items",
				Fields: []crawl.PolicyField{{Name: "id", JSONPointer: "/id"}, {Name: "ok", JSONPointer: "/ok"},
					{Name: "tags", JSONPointer: "/tags", List: true}, {Name: "pay", JSONPointer: "/pay", Type: "number"},
					{Name: "sub", JSONPointer: "/sub"}, {Name: "x", JSONPointer: "/sub/x"},
					{Name: "text", JSONPointer: "/id", Type: "string"}}},
			`[{"id":7,"ok":true,"pay":1.5,"sub":"{\"x\":null}","tags":["a",2,"{\"b\":[]}"],"text":"7"},{"id":"8","sub":"{\"x\":1}","text":"8","x":1}]`},
		"json values": {"application/json", `[1,"a",null,[2],1e999]`, crawl.Policy{JSONPointer: "#"},
			`[{"value":1},{"value":"a"},{"value":"[2]"},{"value":"1e999"}]`},
		"json object": {"application/json", `{"a":{"b":"c"}}`,
			crawl.Policy{JSONPointer: "/a", Fields: []crawl.PolicyField{{Name: "b", JSONPointer: "/b"}}}, `[{"b":"c"}]`},
		"long ids": {"application/json", `[{"id":1234567890123456789},{"id":7}]`,
			crawl.Policy{JSONPointer: "#", Fields: []crawl.PolicyField{{Name: "id", JSONPointer: "/id"},
				{Name: "text", JSONPointer: "/id", Type: "string"}}},
			`[{"id":"1234567890123456789","text":"1234567890123456789"},{"id":7,"text":"7"}]`},
		"broken json":  {"application/json", `{"a":[1,2}`, crawl.Policy{JSONPointer: "/a"}, ""},
		"json in HTML": {"text/html", `[1]`, crawl.Policy{JSONPointer: "#"}, ""},
		"regex": {"text/plain", "a@example.com, b@example.com\nc@example.com",
			crawl.Policy{Regex: `[a-z]+@example\.com`}, `[{"text":"a@example.com"}]`},
		"regex list": {"text/plain", "a@example.com, b@example.com\nc@example.com",
			crawl.Policy{Regex: `(?P<user>[a-z]+)@(?P<host>\S+\.com)`, List: true},
			`[{"host":"example.com","text":"a","user":"a"},{"host":"example.com","text":"b","user":"b"},{"host":"example.com","text":"c","user":"c"}]`},
		"regex of lines": {"text/plain", "one\ntwo", crawl.Policy{Regex: `^t.*$`}, `[{"text":"two"}]`},
		"keywords": {"text/plain", "We look for a Go developer.\nGolang, C++ and go  DEVELOPERS; a go-developer, mango.",
			crawl.Policy{Keywords: []string{"go developer", "GOLANG", "c++"}, Window: 6},
			`[{"count":1,"keywords":["go developer"],"text":"for a Go developer."},{"count":2,"keywords":["GOLANG","c++"],"text":"Golang, C++"}]`},
	} {
		tc.p.Name = "p"
		fields, cut := selectFrom(t, tc.media, tc.body, tc.p)
		if fields["p"] != tc.want || len(cut) > 0 {
			t.Errorf("%s:\n%s %v, want\n%s", name, fields["p"], cut, tc.want)
		}
	}
}

// What a policy selects is bounded, and the record says that something was cut.
func TestSelectionsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	long := strings.Repeat("word ", 20_000)
	for name, tc := range map[string]struct {
		media, body string
		p           crawl.Policy
		objects     int
	}{
		"many elements":   {"text/html", strings.Repeat("<i>a</i>", 5_000), crawl.Policy{CSS: "i"}, maxValues},
		"nested elements": {"text/html", strings.Repeat("<div>a", 400), crawl.Policy{CSS: "div"}, maxNested},
		"nested by xpath": {"text/html", strings.Repeat("<div>a", 400), crawl.Policy{XPath: "//div"}, maxNested},
		"a long text":     {"text/html", "<p>" + long, crawl.Policy{CSS: "p"}, 1},
		"much text":       {"text/html", strings.Repeat("<p>"+long[:maxValue/2], 40), crawl.Policy{CSS: "p"}, 31},
		"many items": {"application/json", "[" + strings.Repeat("1,", 5_000) + "1]", crawl.Policy{JSONPointer: "#"},
			maxValues},
		"a long string": {"application/json", `["` + strings.Repeat(`\u00e9`, maxValue) + `"]`,
			crawl.Policy{JSONPointer: "#"}, 1},
		"a long object":    {"application/json", `[{"a":"` + long + `"},7]`, crawl.Policy{JSONPointer: "#"}, 1},
		"many matches":     {"text/plain", strings.Repeat("a ", 5_000), crawl.Policy{Regex: "a", List: true}, maxValues},
		"a pattern's work": {"text/plain", strings.Repeat("a", 1<<20), crawl.Policy{Regex: "a.*b|a", List: true}, 32},
		"many hits": {"text/plain", strings.Repeat("go away. ", 5_000),
			crawl.Policy{Keywords: []string{"go"}, Window: 1}, maxValues},
	} {
		t.Run(name, func(t *testing.T) {
			tc.p.Name = "p"
			fields, cut := selectFrom(t, tc.media, tc.body, tc.p)
			var list []map[string]any
			if err := json.Unmarshal([]byte(fields["p"]), &list); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(cut, CutFields) || len(list) > tc.objects || len(list) < tc.objects*9/10 ||
				len(fields["p"]) > 2*maxSelected {
				t.Errorf("%d objects, %d bytes, cut %v; want %d objects", len(list), len(fields["p"]), cut, tc.objects)
			}
		})
	}
}

// A panic in a library costs the page what that policy would have selected, and nothing else.
func TestAPolicyThatFailsOnAPage(t *testing.T) {
	fields, _ := selectFrom(t, "text/html", offers, crawl.Policy{Name: "bad", XPath: "//article[count(.) > 0]"},
		crawl.Policy{Name: "good", CSS: "#o2 h2"})
	if fields["good"] != `[{"text":"Clerk"}]` {
		t.Errorf("fields %v", fields)
	}
}

// Rules come first, and policies of an opened document read its text.
func TestPoliciesStandBesideRules(t *testing.T) {
	job := crawl.DefaultJob()
	job.Rules = []crawl.SiteRule{{Fields: []crawl.FieldRule{{Name: "title", CSS: "title"}}}}
	job.Select = []crawl.Policy{{Name: "p", CSS: "#o1 h2"}}
	rules, err := rulesOf(&job)
	if err != nil {
		t.Fatal(err)
	}
	rec := &crawl.Record{URL: mustURL(t, "http://www.example.com/"), ContentType: "text/html"}
	fields, _ := rules.Fields(rec, []byte(offers))
	want := []crawl.Field{{Name: "title", Value: "Offers"},
		{Name: "p", Value: []any{map[string]any{"text": "Go Developer"}}}}
	if !reflect.DeepEqual(fields, want) {
		t.Errorf("%v, want %v", fields, want)
	}
	s := &source{r: &Result{MediaType: "application/pdf", binary: true}, text: "Golang here"}
	job.Select = []crawl.Policy{{Name: "k", Keywords: []string{"golang"}}, {Name: "c", CSS: "p"}}
	if rules, err = rulesOf(&job); err != nil {
		t.Fatal(err)
	}
	got := rules.selected(s, nil)
	if len(got) != 1 || got[0].Name != "k" {
		t.Errorf("%v", got)
	}
}

// A job without rules and policies has nothing compiled, and nothing is done for it.
func TestNoPoliciesNoWork(t *testing.T) {
	job := crawl.DefaultJob()
	if rules, err := rulesOf(&job); rules != nil || err != nil {
		t.Errorf("%v, %v", rules, err)
	}
	job.Select = []crawl.Policy{{Name: "p", CSS: ">"}}
	if _, err := rulesOf(&job); !crawl.IsPermanent(err) {
		t.Errorf("error %v, want a permanent one", err)
	}
}

func FuzzSelect(f *testing.F) {
	job := crawl.DefaultJob()
	job.Select = []crawl.Policy{
		{Name: "css", CSS: "div, p", Fields: []crawl.PolicyField{{Name: "a", CSS: "a", Attr: "href", List: true},
			{Name: "t", Type: "html"}}},
		{Name: "xpath", XPath: "//*[@class]"}, {Name: "re", Regex: `(\w+)@(?P<host>\w+)`, List: true},
		{Name: "words", Keywords: []string{"go", "c++", "straße"}, Window: 5},
		{Name: "json", JSONPointer: "/items", Fields: []crawl.PolicyField{{Name: "id", JSONPointer: "/id"},
			{Name: "n", JSONPointer: "/n", Type: "number", List: true}}},
		{Name: "all", JSONPointer: "#"},
	}
	rules, err := Compile(&job)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(offers), "text/html")
	f.Add([]byte(`{"items":[{"id":"\ud800","n":[1,"2",[3]]},[],"x"]}`), "application/json")
	f.Add([]byte("C++ GO a@b stra\u00dfe STRASSE\xff\xfe"), "text/plain; charset=utf-8")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		page := &crawl.Page{Task: crawl.Task{URL: mustURL(t, "http://www.example.com/")}, ContentType: contentType}
		d := document(page, body, &job, rules)
		n := 0
		for _, f := range d.Fields {
			n += sizeOf(f.Value)
			for _, object := range f.Value.([]any) {
				if len(object.(map[string]any)) == 0 {
					t.Fatalf("%s has an empty object", f.Name)
				}
			}
		}
		if n > maxSelected+64*len(d.Fields) {
			t.Fatalf("%d bytes", n)
		}
		data, err := crawl.EncodeEvent(d)
		if err != nil {
			t.Fatal(err)
		}
		e, err := crawl.DecodeEvent(crawl.TopicContentSeen, data)
		if err != nil || !reflect.DeepEqual(e.(*crawl.Document).Fields, d.Fields) {
			t.Fatalf("%v: fields %v came back as %v", err, d.Fields, e)
		}
	})
}
