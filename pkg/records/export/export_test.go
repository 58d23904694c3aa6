package export_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func mustURL(tb testing.TB, s string) weburl.URL {
	tb.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

// records are an original with everything and a copy of it with nothing.
func records(tb testing.TB) []*crawl.Record {
	a, b := mustURL(tb, "https://a.test/x;y?q=1,2"), mustURL(tb, "https://a.test/copy")
	return []*crawl.Record{{
		URL: a, FinalURL: a, Status: 200, FetchedAt: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Depth: 1,
		ContentType: "text/html", Charset: "utf-8", Bytes: 123, Digest: crawl.Digest{1}, Simhash: 0xAB, Title: "A \"B\", C",
		Lang: "en", Text: "one\ntwo; three",
		Links:  []crawl.Link{{URL: b, Text: "copy", Rel: "next", Weight: 3}, {Raw: "mailto:x"}},
		Assets: []string{"https://a.test/i.png"}, Canonical: "https://a.test/c", Truncated: "max-body", Insecure: true,
		Rendered: &crawl.RenderedPart{At: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), Wall: 600 * time.Millisecond,
			CPU: 350 * time.Millisecond, Links: 9},
		Plugged: crawl.Plugged{Plugins: []string{"a=x/y@1.0.0"}, PluginErrors: []string{"b"}},
		Judged:  crawl.Judged{Relevance: 835, Classes: []string{"news"}}, Cut: []string{"text", "links"},
		Fields: []crawl.Field{{Name: "price", Value: -1.5}, {Name: "tags", Value: []any{"x", 2.0}},
			{Name: "evil", Value: "=1+1"}},
		Extracted: crawl.Extracted{Markdown: "# A", Structured: `{"meta":{}}`, Author: "Ann",
			Published: time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC), Modified: time.Date(2025, 1, 3, 0, 0, 0, 0, time.UTC)},
	}, {
		URL: b, FinalURL: b, Status: 200, FetchedAt: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), DuplicateOf: a,
		Similarity: "exact",
	}}
}

func lines(tb testing.TB) []byte {
	var b []byte
	for _, r := range records(tb) {
		b = jsonl.AppendRecord(b, r)
	}
	return b
}

func run(tb testing.TB, in []byte, opt export.Options) string {
	tb.Helper()
	var out bytes.Buffer
	if _, err := export.Run(tb.Context(), bytes.NewReader(in), &out, opt); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

func TestCSV(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  export.Options
		want string
	}{
		{"default", export.Options{},
			"url,final_url,status,fetched_at,depth,referrer,content_type,charset,bytes,digest,simhash,title,lang,text,fields," +
				"duplicate_of,similarity,canonical,truncated,markdown,structured,author,published,modified,insecure,topic,rendered,gone_at,withdrawn_at,moved_to,versions\n" +
				"\"https://a.test/x;y?q=1,2\",\"https://a.test/x;y?q=1,2\",200,2026-01-02T03:04:05.006Z,1,,text/html,utf-8,123," +
				"sha256:01" + strings.Repeat("00", 31) + ",00000000000000ab,\"A \"\"B\"\", C\",en,\"one\ntwo; three\"," +
				"\"{\"\"price\"\":-1.5,\"\"tags\"\":[\"\"x\"\",2],\"\"evil\"\":\"\"=1+1\"\"}\",,,https://a.test/c,max-body,# " +
				"A,\"{\"\"meta\"\":{}}\",Ann,2025-01-02T00:00:00.000Z,2025-01-03T00:00:00.000Z,true,0.834,\"{\"\"digest\"\":\"\"\"\",\"\"at\"\":\"\"2026-01-02T03:04:06.000Z\"\",\"\"wall_ms\"\":600,\"\"cpu_ms\"\":350,\"\"links_gained\"\":9,\"\"text_gained\"\":0}\",,,,\n" +
				"https://a.test/copy,https://a.test/copy,200,2026-01-02T03:04:06.000Z,0,,,,0,,0000000000000000,,,,{}," +
				"\"https://a.test/x;y?q=1,2\",exact,,,,,,,,false,,,,,,\n"},
		{"chosen, with lists", export.Options{Columns: []string{"cut", "links", "url"}, Keep: export.Originals},
			"cut,links,url\ntext; links,https://a.test/copy; mailto:x,\"https://a.test/x;y?q=1,2\"\n"},
		{"fields", export.Options{Columns: []string{"status"}, Fields: []string{"price", "tags", "evil", "none"}},
			"status,field.price,field.tags,field.evil,field.none\n200,-1.5,x; 2,'=1+1,\n200,,,,\n"},
		{"raw text, and a row of nothing", export.Options{Columns: []string{"field.evil"}, RawText: true},
			"field.evil\n=1+1\n\"\"\n"},
	} {
		c.opt.Format = export.CSV
		if got := run(t, lines(t), c.opt); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestFieldsReplaceTheirColumnByDefault(t *testing.T) {
	head, _, _ := strings.Cut(run(t, lines(t), export.Options{Format: export.CSV, Fields: []string{"price"}}), "\n")
	if strings.Contains(head, ",fields,") || !strings.HasSuffix(head, ",field.price") {
		t.Errorf("header %s", head)
	}
}

func TestSpreadsheetRunsNothing(t *testing.T) {
	for text, want := range map[string]string{
		"=cmd": "'=cmd", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "x=": "x=", "'x": "'x", "": "",
	} {
		in := jsonl.AppendRecord(nil, &crawl.Record{URL: mustURL(t, "http://a.test/"), Title: text,
			Fields: []crawl.Field{{Name: "f", Value: text}, {Name: "l", Value: []any{text, "y"}}}})
		got, err := csv.NewReader(strings.NewReader(run(t, in,
			export.Options{Format: export.CSV, Columns: []string{"url", "title", "field.f", "field.l"}}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if row := got[1]; row[1] != want || row[2] != want || row[3] != want+"; y" {
			t.Errorf("%q: %q", text, row)
		}
	}
}

func TestJSONLines(t *testing.T) {
	all := string(lines(t))
	first, second, _ := strings.Cut(all, "\n")
	for _, c := range []struct {
		name string
		opt  export.Options
		want string
	}{
		{"whole lines", export.Options{}, all},
		{"whole lines of originals", export.Options{Keep: export.Originals}, first + "\n"},
		{"copies", export.Options{Keep: func(r *crawl.Record) bool { return !export.Originals(r) }}, second},
		{"chosen", export.Options{Columns: []string{"title", "url", "links"}, Fields: []string{"price", "tags"}},
			`{"title":"A \"B\", C","url":"https://a.test/x;y?q=1,2","links":[{"url":"https://a.test/copy","rel":"next","text":"copy","weight":3},{"url":"mailto:x"}],"field.price":-1.5,"field.tags":["x",2]}` + "\n" +
				`{"title":"","url":"https://a.test/copy","links":[],"field.price":null,"field.tags":null}` + "\n"},
	} {
		c.opt.Format = export.JSONL
		if got := run(t, lines(t), c.opt); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestNumbersPassUnchanged(t *testing.T) {
	in := []byte(`{"url":"http://a.test/","bytes":9007199254740993,"fields":{"n":12345678901234567890.10}}`)
	got := run(t, in, export.Options{Format: export.JSONL, Columns: []string{"bytes", "field.n"}})
	if want := `{"bytes":9007199254740993,"field.n":12345678901234567890.10}` + "\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBadLineIsNamed(t *testing.T) {
	good := string(jsonl.AppendRecord(nil, records(t)[0]))
	for name, c := range map[string]struct{ in, want string }{
		"no JSON":             {good + "\n" + good + "no JSON\n" + good, "line 4:"},
		"a log line":          {good + `{"time":"2026-01-02T03:04:05Z"}` + "\n", "line 2:"},
		"cut at the end":      {good + good[:len(good)/2], "line 2:"},
		"beyond all bounds":   {good + strings.Repeat("x", 65<<20), "line 2: longer than"},
		"two records in line": {strings.TrimSpace(good) + good, "line 1:"},
	} {
		for _, f := range []export.Format{export.CSV, export.JSONL, export.Parquet} {
			var out bytes.Buffer
			_, err := export.Run(t.Context(), strings.NewReader(c.in), &out, export.Options{Format: f})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: error %v, want %s", name, f, err, c.want)
			}
		}
		if _, err := export.FieldTypes(t.Context(), strings.NewReader(c.in), nil); err == nil {
			t.Errorf("%s: FieldTypes accepts it", name)
		}
	}
}

func TestRowsBeforeABadLineAreWritten(t *testing.T) {
	var out bytes.Buffer
	n, err := export.Run(t.Context(), io.MultiReader(bytes.NewReader(lines(t)), strings.NewReader("bad\n")), &out,
		export.Options{Format: export.CSV, Columns: []string{"status"}})
	if err == nil || n != 2 || out.String() != "status\n200\n200\n" {
		t.Errorf("%d rows, %q, error %v", n, out.String(), err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestErrorsOfFilesAreReported(t *testing.T) {
	broken := errors.New("the disk is broken")
	for _, f := range []export.Format{export.CSV, export.JSONL, export.Parquet} {
		if _, err := export.Run(t.Context(), bytes.NewReader(lines(t)), fullDisk{}, export.Options{Format: f}); err == nil {
			t.Errorf("%s: a full disk goes unnoticed", f)
		}
		if _, err := export.Run(t.Context(), iotest.ErrReader(broken), io.Discard, export.Options{Format: f}); !errors.Is(err,
			broken) {
			t.Errorf("%s: reading error %v", f, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := export.Run(ctx, bytes.NewReader(lines(t)), io.Discard, export.Options{Format: f}); !errors.Is(err,
			context.Canceled) {
			t.Errorf("%s: cancelled: %v", f, err)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, opt := range []export.Options{
		{}, {Format: "xml"}, {Format: export.CSV, Columns: []string{"size"}},
		{Format: export.CSV, Columns: []string{"url", "url"}}, {Format: export.CSV, Columns: []string{"field."}},
		{Format: export.CSV, Fields: []string{"a", "a"}}, {Format: export.CSV, Fields: []string{""}},
		{Format: export.CSV, Columns: []string{"field.a"}, Fields: []string{"a"}},
	} {
		if opt.Validate() == nil {
			t.Errorf("accepted %+v", opt)
		}
		if _, err := export.Run(t.Context(), strings.NewReader(""), io.Discard, opt); err == nil {
			t.Errorf("ran %+v", opt)
		}
	}
}

func TestFieldTypes(t *testing.T) {
	got, err := export.FieldTypes(t.Context(), bytes.NewReader(lines(t)), nil)
	want := map[string]export.Type{"evil": {Base: export.TextType}, "price": {Base: export.NumberType},
		"tags": {Base: export.TextType}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("types %v, error %v", got, err)
	}
	rules := []crawl.SiteRule{{Fields: []crawl.FieldRule{{Name: "f", Type: "number"}, {Name: "i", Type: "integer"},
		{Name: "d", Type: "date"}, {Name: "b", Type: "bool"}, {Name: "l", Type: "date", List: true},
		{Name: "h", Type: "html"}, {Name: "two", Type: "number"}}},
		{Fields: []crawl.FieldRule{{Name: "two", Type: "date"}}}}
	text, one := export.Type{Base: export.TextType}, func(b export.Base) export.Type { return export.Type{Base: b} }
	for _, c := range []struct {
		name string
		all  []any // values, a page each
		want export.Type
	}{
		{"f", []any{1.5, nil, 2.0}, one(export.NumberType)}, {"f", []any{1.5, "x"}, text},
		{"f", []any{nil}, one(export.NumberType)}, {"i", []any{1.0, -2.0}, one(export.IntegerType)}, {"i", []any{1.5}, text},
		{"b", []any{true, false}, one(export.BoolType)}, {"d", []any{"2026-01-02T03:04:05Z"}, one(export.DateType)},
		{"d", []any{"yesterday"}, text},
		{"l", []any{[]any{"2026-01-02T03:04:05+02:00"}, []any{}}, export.Type{Base: export.DateType, List: true}},
		{"l", []any{"2026-01-02T03:04:05Z"}, text}, {"h", []any{"<b>"}, text}, {"two", []any{1.0}, text},
		{"none", []any{1.0, 2.0}, one(export.NumberType)}, {"none", []any{1.0, true}, text},
		{"none", []any{true}, one(export.BoolType)},
		{"none", []any{[]any{}, []any{"a"}, []any{"b", "c"}}, export.Type{Base: export.TextType, List: true}},
		{"none", []any{[]any{}}, export.Type{Base: export.TextType, List: true}}, {"none", []any{[]any{nil}}, text},
		{"none", []any{map[string]any{"a": 1.0}}, text},
		{"none", []any{[]any{map[string]any{"a": 1.0}}, nil, []any{}}, one(export.JSONType)},
		{"none", []any{[]any{map[string]any{"a": 1.0}}, "x"}, text},
		{"none", []any{[]any{"x"}, []any{map[string]any{"a": 1.0}}}, text},
		{"f", []any{1.0, []any{map[string]any{"a": 1.0}}}, text}, {"none", []any{nil}, text},
	} {
		var in []byte
		for _, v := range c.all {
			in = jsonl.AppendRecord(in, &crawl.Record{URL: mustURL(t, "http://a.test/"),
				Fields: []crawl.Field{{Name: c.name, Value: v}}})
		}
		if got, err := export.FieldTypes(t.Context(), bytes.NewReader(in), rules); err != nil || got[c.name] != c.want {
			t.Errorf("%s %v: type %+v, want %+v, error %v", c.name, c.all, got[c.name], c.want, err)
		}
	}
}

func TestEveryColumnIsAKeyOfTheRecord(t *testing.T) {
	r := records(t)[0]
	r.GoneAt, r.WithdrawnAt, r.MovedTo = r.FetchedAt, r.FetchedAt, r.URL
	r.Versions = []crawl.PageVersion{{FetchedAt: r.FetchedAt}}
	in := jsonl.AppendRecord(nil, r)
	for _, c := range export.Columns() {
		if c == "similarity" { // of copies
			continue
		}
		if !bytes.Contains(in, []byte(`"`+c+`":`)) {
			t.Errorf("no record has the key %s", c)
		}
	}
}

func TestLinesAreWrittenAsTheyCome(t *testing.T) {
	var out bytes.Buffer
	l, err := export.NewLines(&out, []string{"status", "fields.price", "field.price"})
	if err != nil {
		t.Fatal(err)
	}
	in := lines(t)
	whole := bytes.IndexByte(in, '\n') + 1
	want := `{"status":200,"fields.price":-1.5,"field.price":-1.5}` + "\n"
	for i := range in { // a byte a time
		if _, err := l.Write(in[i : i+1]); err != nil {
			t.Fatal(err)
		}
		if i+1 == whole && out.String() != want {
			t.Errorf("after the first line: %q", out.String())
		}
	}
	if got := out.String(); got != want+`{"status":200,"fields.price":null,"field.price":null}`+"\n" {
		t.Errorf("%q", got)
	}
	if _, err := l.Write([]byte("no JSON\n")); err == nil {
		t.Error("a line that is no record is accepted")
	}
	if _, err := export.NewLines(io.Discard, []string{"size"}); err == nil {
		t.Error("an unknown key is accepted")
	}
}
