package builtin_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/builtin"
)

func page(text string) *plugin.Document {
	return &plugin.Document{URL: "https://a.test/p", Path: "/p", ContentType: "text/html", Lang: "en-GB",
		Title: "Write to ann@a.test", Text: text,
		Fields: map[string]any{"price": 12.0, "who": "bob@a.test", "list": []any{"x", "eve@a.test"}}}
}

func doc(media string) *plugin.Document {
	return &plugin.Document{URL: "https://a.test/d", ContentType: media}
}

func record(text string) *plugin.Record {
	return &plugin.Record{URL: "https://a.test/p", Lang: "fr", Text: text, Fields: map[string]any{}}
}

var threeLinks = &plugin.Links{URL: "https://a.test/",
	Links: []plugin.Link{{URL: "https://a.test/1"}, {URL: "https://a.test/out", Text: "log out"},
		{URL: "https://a.test/3", Dropped: "other x"}}}

// Each case is a node over a message; want is the answer as JSON.
var cases = []struct {
	name, use, with, body string
	message               plugin.Message
	want                  string
}{
	{"filter keeps", "filter", `{"keep": "doc.lang startsWith 'en'"}`, "", page(""), `{"action":"pass"}`},
	{"filter drops what it does not keep", "filter", `{"keep": "doc.lang == 'de'", "reason": "german-only"}`, "", page(""),
		`{"action":"drop","reason":"german-only"}`},
	{"filter drops", "filter", `{"drop": "record.lang == 'fr'"}`, "", record(""), `{"action":"drop"}`},
	{"filter at links", "filter", `{"drop": "link.text contains 'log out'", "reason": "logout"}`, "", threeLinks,
		`{"action":"patch","patch":{"change":[{"index":1,"drop":"logout"}]}}`},
	{"filter at links keeps all", "filter", `{"keep": "true"}`, "", threeLinks, `{"action":"pass"}`},
	{"header", "header", `{"set": {"x-client": "7"}, "remove": ["accept"]}`, "", &plugin.Request{},
		`{"action":"patch","patch":{"headers":{"Accept":null,"X-Client":["7"]}}}`},
	{"json", "json", `{"fields": {"price": "/offer/price", "none": "/x"}, "title": "/name"}`,
		`{"name": "Lamp", "offer": {"price": 9.5}}`, doc("application/json"),
		`{"action":"patch","patch":{"title":"Lamp","fields":{"price":9.5}}}`},
	{"json with long ids, behind a byte order mark", "json", `{"fields": {"id": "/id", "all": ""}}`,
		"\uFEFF{\"id\": 1234567890123456789, \"n\": 1}", doc("application/json"),
		`{"action":"patch","patch":{"fields":{"all":{"id":"1234567890123456789","n":1},"id":"1234567890123456789"}}}`},
	{"json passes other pages", "json", `{"title": "/name"}`, `<html>`, doc("text/html"), `{"action":"pass"}`},
	{"csv", "csv", `{"max": 2}`, "\xEF\xBB\xBFname;price\nLamp;9\n\"A;B\";10;more\nC;3\n", doc("text/csv"),
		`{"action":"patch","patch":{"fields":{"rows":[{"name":"Lamp","price":"9"},{"column3":"more","name":"A;B","price":"10"}]}}}`},
	{"csv with names", "csv", `{"names": ["a", "b"], "field": "t", "delimiter": ","}`, "1,2\n", doc("text/csv"),
		`{"action":"patch","patch":{"fields":{"t":[{"a":"1","b":"2"}]}}}`},
	{"feed: RSS", "feed", `{}`,
		`<?xml version="1.0"?><rss><channel><title>News</title><item><title>One &amp; two</title><link>https://a.test/1</link><guid>g</guid><pubDate>Mon</pubDate></item></channel></rss>`,
		doc("application/rss+xml"),
		`{"action":"patch","patch":{"title":"News","fields":{"entries":[{"id":"g","published":"Mon","title":"One \u0026 two","url":"https://a.test/1"}]}}}`},
	{"feed: Atom", "feed", `{"field": "posts"}`,
		`<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>T</title><link rel="self" href="s"/><link href="https://a.test/2"/><updated>2026</updated></entry></feed>`,
		doc("application/atom+xml"),
		`{"action":"patch","patch":{"fields":{"posts":[{"published":"2026","title":"T","url":"https://a.test/2"}]}}}`},
	{"feed passes other XML", "feed", `{}`, `<urlset></urlset>`, doc("application/xml"), `{"action":"pass"}`},
	{"keywords", "keywords", `{"words": ["go", "c++"], "window": 4}`, "", page("We write Go and C++ here, not cargo."),
		`{"action":"patch","patch":{"fields":{"keywords":[{"hits":2,"text":"ite Go and C++ her"}]}}}`},
	{"keywords of other scripts", "keywords", `{"words": ["iphone", "개발", "दिल", "ไทย"], "window": 2}`, "",
		page("新しいiPhoneを買う / दिल्ली / 웹 개발자를 / ประเทศไทย"),
		`{"action":"patch","patch":{"fields":{"keywords":[{"hits":1,"text":"しいiPhoneを買"},{"hits":1,"text":"웹 개발자를"},{"hits":1,"text":"ทศไทย"}]}}}`},
	{"keywords missing", "keywords", `{"words": ["rust"], "required": true}`, "", page("trust"),
		`{"action":"drop","reason":"no-keyword"}`},
	{"redact", "redact", `{}`, "",
		page("Card 4111 1111 1111 1111, no card 4111 1111 1111 1112, DE89 3704 0044 0532 0130 00, call +49 (0)30 1234567."),
		`{"action":"patch","patch":{"title":"Write to [email]","text":"Card [card], no card 4111 1111 1111 1112, [iban], call [phone].","fields":{"list":["x","[email]"],"who":"[email]"}}}`},
	{"redact patterns", "redact", `{"patterns": ["A-[0-9]+"], "with": "#", "fields": false}`, "", page("see A-123"),
		`{"action":"patch","patch":{"text":"see #"}}`},
	{"redact nothing", "redact", `{"kinds": ["ip"]}`, "", record("version 1.2.3"), `{"action":"pass"}`},
	{"map", "map", `{"set": {"gross": "doc.fields.price * 2"}, "rename": {"who": "contact"}, "remove": ["list", "none"]}`,
		"", page(""), `{"action":"patch","patch":{"fields":{"contact":"bob@a.test","gross":24,"list":null,"who":null}}}`},
	{"lang", "lang", `{"keep": ["en", "de"]}`, "", page(""), `{"action":"pass"}`},
	{"lang drops", "lang", `{"keep": ["en"]}`, "", record(""), `{"action":"drop","reason":"language"}`},
	{"lang unknown", "lang", `{"keep": ["en"], "unknown": "drop"}`, "", &plugin.Record{},
		`{"action":"drop","reason":"language"}`},
	{"sample all", "sample", `{"share": 1}`, "", page(""), `{"action":"pass"}`},
	{"urls", "urls", `{"urls": ["https://a.test/"]}`, "", &plugin.Seeds{}, `{"action":"pass"}`},
	{"list", "list", `{"file": "/x"}`, "", &plugin.Seeds{}, `{"action":"pass"}`},
	{"sitemap", "sitemap", `{"url": "https://a.test/map"}`, "", &plugin.Seeds{}, `{"action":"pass"}`},
	{"pages", "pages", `{"dir": "/x", "status": [200], "hosts": ["a.test"], "match": "/p/"}`, "", &plugin.Seeds{},
		`{"action":"pass"}`},
	{"s3", "s3", `{"bucket": "pages", "file": "pages.csv", "access_key": "${A}", "secret_key": "file:/s"}`, "",
		&plugin.Delivery{}, `{"action":"pass"}`},
	{"postgres", "postgres", `{"url": "postgres://u:${A}@h/d"}`, "", &plugin.Delivery{}, `{"action":"pass"}`},
	{"mongodb", "mongodb", `{"url": "${A}", "database": "d"}`, "", &plugin.Delivery{}, `{"action":"pass"}`},
	{"webhook", "webhook", `{"url": "https://h/${A}", "secrets": ["${B}"]}`, "", &plugin.Delivery{}, `{"action":"pass"}`},
	{"file", "file", `{"file": "pages.csv", "columns": ["url"], "originals": true, "raw_text": true}`, "",
		&plugin.Delivery{}, `{"action":"pass"}`},
	{"sample none", "sample", `{"share": 0}`, "", page(""), `{"action":"drop","reason":"sample"}`},
}

func settings(t *testing.T, text string) map[string]any {
	t.Helper()
	var with map[string]any
	if err := json.Unmarshal([]byte(text), &with); err != nil {
		t.Fatal(err)
	}
	return with
}

func TestAnswers(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tried["builtin/"+c.use] = true
			p, ok := builtin.Plugin("builtin/" + c.use + "@1")
			if !ok {
				t.Fatal("there is no such plug-in")
			}
			i, err := p.Configure(t.Context(), c.message.Point(), settings(t, c.with))
			if err != nil {
				t.Fatal(err)
			}
			call := &plugin.Call{Message: c.message, Body: func() []byte { return []byte(c.body) }}
			for range 2 { // the same message gives the same answer
				a, err := i.Handle(t.Context(), call)
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := json.Marshal(a); string(got) != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			}
		})
	}
	for _, d := range builtin.All() {
		if !tried[d.Name] {
			t.Errorf("%s has no case", d.Name)
		}
	}
	if n := len(builtin.All()); n < 10 {
		t.Errorf("%d plug-ins", n)
	}
}

func TestSampleKeepsItsShare(t *testing.T) {
	p, _ := builtin.Plugin("builtin/sample@1")
	i, err := p.Configure(t.Context(), crawl.AtRequest, map[string]any{"share": 0.25, "seed": "s"})
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for n := range 4000 {
		a, err := i.Handle(t.Context(),
			&plugin.Call{Message: &plugin.Request{URL: "https://a.test/" + strings.Repeat("x",
				n%50) + string(rune('a'+n%26)) + json.Number(string(rune('0'+n%10))).String() + strings.Repeat("y", n/50)}})
		if err != nil {
			t.Fatal(err)
		}
		if a.Action == plugin.Pass {
			kept++
		}
	}
	if kept < 800 || kept > 1200 {
		t.Errorf("%d of 4000 were kept, want about 1000", kept)
	}
}

func TestFaultsOfSettingsNameTheirKey(t *testing.T) {
	for _, c := range []struct {
		use  string
		at   crawl.Point
		with string
		path string
	}{
		{"filter", crawl.AtDocument, `{"keep": "doc.nothing"}`, "keep"},
		{"filter", crawl.AtDocument, `{"keep": "true", "drop": "true"}`, ""},
		{"filter", crawl.AtDocument, `{"keeps": "true"}`, "keeps"},
		{"filter", crawl.AtDocument, `{"keep": 3}`, "keep"},
		{"filter", crawl.AtLinks, `{"drop": "link.none"}`, "drop"},
		{"filter", crawl.AtRecord, `{"keep": "true", "reason": "no blanks"}`, "reason"},
		{"filter", crawl.AtOutput, `{"keep": "true"}`, ""},
		{"header", crawl.AtRequest, `{"set": {"A": "b\nc"}}`, "set.A"},
		{"header", crawl.AtRequest, `{"set": {"X-Key": "${KEY}"}}`, "set.X-Key"},
		{"header", crawl.AtRequest, `{}`, ""},
		{"json", crawl.AtDocument, `{"fields": {"a": "no-slash"}}`, "fields.a"},
		{"csv", crawl.AtDocument, `{"delimiter": ";;"}`, "delimiter"},
		{"csv", crawl.AtDocument, `{"max": -1}`, "max"},
		{"feed", crawl.AtDocument, `{"max": 1000000}`, "max"},
		{"keywords", crawl.AtRecord, `{"words": [""]}`, "words"},
		{"keywords", crawl.AtRecord, `{"words": ["a"], "window": -1}`, "window"},
		{"redact", crawl.AtRecord, `{"kinds": ["name"]}`, "kinds[0]"},
		{"redact", crawl.AtRecord, `{"patterns": ["("]}`, "patterns[0]"},
		{"map", crawl.AtRecord, `{"set": {"x": "record."}}`, "set.x"},
		{"lang", crawl.AtRecord, `{"keep": []}`, "keep"},
		{"lang", crawl.AtRecord, `{"keep": ["en"], "unknown": "maybe"}`, "unknown"},
		{"sample", crawl.AtRecord, `{"share": 2}`, "share"},
		{"sample", crawl.AtRecord, `{}`, "share"},
		{"urls", crawl.AtProvider, `{}`, ""},
		{"urls", crawl.AtProvider, `{"urls": []}`, ""},
		{"urls", crawl.AtProvider, `{"urls": ["https://a.test/", "ftp://a.test/"]}`, "urls[1]"},
		{"urls", crawl.AtProvider, `{"urls": ["https://a:b@a.test/"]}`, "urls[0]"},
		{"urls", crawl.AtProvider, `{"urls": ["https://a.test/\nhttps://b.test/"]}`, "urls[0]"},
		{"list", crawl.AtProvider, `{"file": 3}`, "file"},
		{"list", crawl.AtProvider, `{"file": "x", "dir": "y"}`, ""},
		{"list", crawl.AtRecord, `{"file": "x"}`, ""},
		{"sitemap", crawl.AtProvider, `{"url": "not a url"}`, "url"},
		{"pages", crawl.AtProvider, `{"execution": "../x"}`, "execution"},
		{"pages", crawl.AtProvider, `{"dir": "x", "execution": "y"}`, ""},
		{"pages", crawl.AtProvider, `{"dir": "x", "status": [7]}`, "status[0]"},
		{"pages", crawl.AtProvider, `{"dir": "x", "hosts": ["https://a.test/"]}`, "hosts[0]"},
		{"pages", crawl.AtProvider, `{"dir": "x", "match": "("}`, "match"},
		{"pages", crawl.AtProvider, `{"match": "."}`, ""},
		{"s3", crawl.AtOutput, `{"bucket": "pages", "file": "pages.xlsx"}`, "file"},
		{"s3", crawl.AtOutput, `{"bucket": "Pages/../x", "file": "pages.csv"}`, "bucket"},
		{"s3", crawl.AtOutput, `{"bucket": "pages", "file": "pages.csv", "access_key": "${A}", "secret_key": "geheim"}`,
			"secret_key"},
		{"s3", crawl.AtOutput, `{"bucket": "pages", "file": "pages.csv", "access_key": "${A}"}`, "secret_key"},
		{"s3", crawl.AtOutput, `{"bucket": "pages", "file": "pages.csv", "endpoint": "https://u:geheim@h"}`, "endpoint"},
		{"s3", crawl.AtOutput, `{"bucket": "pages", "file": "pages.csv", "prefix": "../x"}`, "prefix"},
		{"postgres", crawl.AtOutput, `{"url": "postgres://u:geheim@h/d"}`, "url"},
		{"postgres", crawl.AtOutput, `{"url": "postgres://u@h/d?password=geheim"}`, "url"},
		{"postgres", crawl.AtOutput, `{"url": "mysql://u@h/d"}`, "url"},
		{"postgres", crawl.AtOutput, `{"url": "${A}", "table": "a; DROP TABLE b"}`, "table"},
		{"mongodb", crawl.AtOutput, `{"url": "mongodb://u:geheim@h/", "database": "d"}`, "url"},
		{"mongodb", crawl.AtOutput, `{"url": "${A}", "database": "d$x"}`, "database"},
		{"webhook", crawl.AtOutput, `{"url": "https://u:geheim@h/"}`, "url"},
		{"webhook", crawl.AtOutput, `{"url": "https://h/", "secrets": ["geheim"]}`, "secrets"},
		{"webhook", crawl.AtOutput, `{"url": "https://h/", "batch": 20000}`, "batch"},
		{"file", crawl.AtOutput, `{}`, "file"},
		{"file", crawl.AtOutput, `{"file": "../x.csv"}`, "file"},
		{"file", crawl.AtOutput, `{"file": ".x.csv"}`, "file"},
		{"file", crawl.AtOutput, `{"file": "a/b.csv"}`, "file"},
		{"file", crawl.AtOutput, `{"file": "a\u0000b.csv"}`, "file"},
		{"file", crawl.AtOutput, `{"file": "x.xlsx"}`, "file"},
		{"file", crawl.AtOutput, `{"file": "x.csv", "colums": ["url"]}`, "colums"},
		{"file", crawl.AtOutput, `{"file": "x.csv", "columns": "url"}`, "columns"},
	} {
		p, _ := builtin.Plugin("builtin/" + c.use + "@1")
		_, err := p.Configure(t.Context(), c.at, settings(t, c.with))
		bad := (*plugin.ConfigError)(nil)
		if !errors.As(err, &bad) || bad.Path != c.path {
			t.Errorf("%s %s: %v; want a fault of %q", c.use, c.with, err, c.path)
		}
	}
}

// The schema that the composer shows has the settings that there are.
func TestSchemasAreTrue(t *testing.T) {
	for _, d := range builtin.All() {
		properties, _ := d.Config["properties"].(map[string]any)
		p, _ := builtin.Plugin(d.Use())
		for name, s := range properties {
			kind := s.(map[string]any)["type"]
			sample := map[any]any{"string": "x", "number": 1, "integer": 1, "boolean": true, "array": []any{"x"},
				"object": map[string]any{"x": "y"}}[kind]
			if items, _ := s.(map[string]any)["items"].(map[string]any); items["type"] == "integer" {
				sample = []any{200}
			}
			_, err := p.Configure(t.Context(), d.Serves[0].Point, map[string]any{name: sample})
			if bad := (*plugin.ConfigError)(nil); errors.As(err, &bad) && bad.Path == name &&
				(bad.Text == "there is no such setting" || strings.Contains(bad.Text, "want a")) {
				t.Errorf("%s: %s: %s", d.Name, name, bad.Text)
			}
		}
		if d.Summary == "" || len(d.Serves) == 0 || !reflect.DeepEqual(d.Tier, plugin.Builtin) {
			t.Errorf("%s: %+v", d.Name, d)
		}
	}
}

func FuzzBodies(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.body))
	}
	var all []plugin.Instance
	for use, with := range map[string]string{"json": `{"title": "/a/0"}`, "csv": `{}`, "feed": `{}`} {
		p, _ := builtin.Plugin("builtin/" + use + "@1")
		var set map[string]any
		if err := json.Unmarshal([]byte(with), &set); err != nil {
			f.Fatal(err)
		}
		i, err := p.Configure(f.Context(), crawl.AtDocument, set)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, i)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, i := range all {
			for _, media := range []string{"application/json", "text/csv", "application/xml"} {
				if a, err := i.Handle(t.Context(),
					&plugin.Call{Message: doc(media), Body: func() []byte { return body }}); err == nil && a == nil {
					t.Error("neither an answer nor an error")
				}
			}
		}
	})
}
