package explore

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

const script = `<script>alert(1)</script>`

// hostile are titles and texts as pages that mean harm have them.
func hostile() map[string]string {
	return map[string]string{
		"script":  script,
		"bidi":    "\u202egnp.exe \u2066hidden\u2069 \u200f",
		"control": "a\x00b\x1b[31mred\x7f",
		"long":    strings.Repeat("long title ", 100_000),
		"utf":     "bad \xff\xfe\xc3 end",
		"quotes":  `"'; DROP TABLE records; --`,
	}
}

func TestHostilePages(t *testing.T) {
	w := newWorld(t)
	for name, text := range hostile() {
		w.pages("h-1", record("https://a.test/"+name, text, text, func(r *crawl.Record) {
			r.Fields = []crawl.Field{{Name: text[:min(len(text), 500)], Value: text}, {Name: "list", Value: []any{text, text}}}
			r.Links = []crawl.Link{{Raw: "javascript:" + script, Text: text}, {URL: u("https://a.test/x"), Text: text}}
		}))
		w.log("h-1", line("https://a.test/"+name, crawl.VerdictDone, 200, func(l *crawl.LogLine) { l.Detail = text }))
	}
	x := w.explorer()
	caughtUp(t, x, "h-1")
	for name := range hostile() {
		r, err := x.Record(t.Context(), "h-1", "https://a.test/"+name)
		if err != nil {
			t.Fatal(name, err)
		}
		answer(t, name, r, 4<<20)
	}
	list, err := x.Records(t.Context(), "h-1",
		RecordFilter{Facets: true, Columns: []string{"list"}, Query: "end OR title"}, Page{})
	if err != nil {
		t.Fatal(err)
	}
	answer(t, "list", list, 64<<10)
	list, err = x.Records(t.Context(), "h-1", RecordFilter{Facets: true, Columns: []string{"list"}}, Page{})
	if err != nil || len(list.Items) != len(hostile()) {
		t.Fatalf("%d records, %v", len(list.Items), err)
	}
	answer(t, "all", list, 64<<10)
	logs, err := x.Logs(t.Context(), LogFilter{Execution: "h-1"}, Page{})
	if err != nil || len(logs.Items) != len(hostile()) {
		t.Fatalf("%d lines, %v", len(logs.Items), err)
	}
	answer(t, "logs", logs, 64<<10)
	diff, err := x.TextDiff(t.Context(), "h-1", "https://a.test/long", "h-1", "https://a.test/bidi")
	if err != nil || !diff.Cut {
		t.Fatal(err)
	}
	answer(t, "diff", diff, 1<<20)
}

// answer checks that an answer is plain and bounded.
func answer(t *testing.T, what string, v any, most int) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(what, err)
	}
	if len(b) > most {
		t.Errorf("%s: an answer of %d bytes", what, len(b))
	}
	if !utf8.Valid(b) {
		t.Errorf("%s: not UTF-8", what)
	}
	var back any
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(what, err)
	}
	eachString(back, func(s string) {
		if i := strings.IndexFunc(s, plaintext.Steers); i >= 0 {
			t.Errorf("%s: %.40q steers at %d", what, s, i)
		}
	})
}

func eachString(v any, use func(string)) {
	switch v := v.(type) {
	case string:
		use(v)
	case []any:
		for _, i := range v {
			eachString(i, use)
		}
	case map[string]any:
		for k, i := range v {
			use(k)
			eachString(i, use)
		}
	}
}

func FuzzFilters(f *testing.F) {
	w := newWorld(f)
	w.site("s-1")
	x := w.explorer()
	caughtUp(f, x, "s-1")
	for _, s := range []string{"", "rivers", `"a" NEAR(b) -c*`, "https://a.test/1", "\x00", "%_'\"", "-", "*",
		strings.Repeat("a ", 300)} {
		f.Add(s, s, 1)
	}
	f.Fuzz(func(t *testing.T, a, b string, n int) {
		depth := n % 5
		expected := func(err error) {
			if err != nil && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrCursor) && !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		}
		_, err := x.Tasks(t.Context(), "s-1", TaskFilter{Query: a, Host: b, Depth: &depth, Status: n}, Page{Limit: n})
		expected(err)
		_, err = x.Tasks(t.Context(), "s-1", TaskFilter{State: a, Verdict: b}, Page{Cursor: b})
		expected(err)
		_, err = x.Records(t.Context(), "s-1", RecordFilter{Query: a, Lang: b, Facets: true, Columns: []string{b}},
			Page{Limit: n})
		expected(err)
		_, err = x.Records(t.Context(), "s-1", RecordFilter{Fields: map[string]string{a: b}, Type: a, Duplicates: b},
			Page{Cursor: a})
		expected(err)
		_, err = x.Hosts(t.Context(), "s-1", HostFilter{Query: a, Sort: b, Why: a}, Page{Cursor: a, Limit: n})
		expected(err)
		_, err = x.Record(t.Context(), "s-1", a)
		expected(err)
		_, err = x.Cluster(t.Context(), "s-1", a, Page{Cursor: b})
		expected(err)
		_, err = x.Chain(t.Context(), "s-1", a)
		expected(err)
		_, err = x.Logs(t.Context(), LogFilter{Execution: "s-1", Level: a, Query: b, After: a}, Page{Cursor: b, Limit: n})
		expected(err)
		_, err = x.LogLine(t.Context(), a)
		expected(err)
		_, err = x.Changes(t.Context(), "s-1", "s-1", Change(a), Page{Cursor: b})
		expected(err)
	})
}

// A cursor with whatever numbers in it lists something, or is an error.
func FuzzCursors(f *testing.F) {
	w := newWorld(f)
	w.site("s-1")
	x := w.explorer()
	caughtUp(f, x, "s-1")
	f.Add(int64(3), "", 1.5, 1, "k")
	f.Add(int64(-1), "12", -1e300, 99, "\x00")
	f.Fuzz(func(t *testing.T, id int64, text string, num float64, phase int, key string) {
		page := func(of string) Page {
			return Page{Cursor: cursor{Of: of, ID: id, Text: text, Num: num, Phase: phase, Key: key}.encode()}
		}
		jid := crawl.JobID("s-1")
		var tf TaskFilter
		if _, err := x.Tasks(t.Context(), jid, tf, page(listOf("tasks", jid, tf))); err != nil && !errors.Is(err, ErrCursor) {
			t.Error(err)
		}
		hf := HostFilter{}
		if _, err := x.Hosts(t.Context(), jid, hf, page(listOf("hosts", jid, hf))); err != nil && !errors.Is(err, ErrCursor) {
			t.Error(err)
		}
		if _, err := x.Clusters(t.Context(), jid, ClusterFilter{},
			page(listOf("clusters", jid, ClusterFilter{}))); err != nil && !errors.Is(err, ErrCursor) {
			t.Error(err)
		}
		if _, err := x.Changes(t.Context(), jid, jid, Same, page(listOf("changes", jid, jid, Same))); err != nil &&
			!errors.Is(err, ErrCursor) {
			t.Error(err)
		}
		lf := LogFilter{Execution: jid}
		if _, err := x.Logs(t.Context(), lf, page(listOf("logs", lf))); err != nil && !errors.Is(err, ErrCursor) {
			t.Error(err)
		}
	})
}

func TestSeries(t *testing.T) {
	x := Open(Options{})
	start := time.Now().Add(-10 * time.Minute).Truncate(time.Second)
	for i := range 300 {
		if i >= 100 && i < 150 {
			continue // nobody sampled
		}
		x.Sample("s-1", Sample{At: start.Add(time.Duration(i) * time.Second), Pages: int64(7 * i), Queued: 5})
	}
	s, err := x.Series(t.Context(), "s-1", start)
	if err != nil || s.StepS != 1 || len(s.At) != 250 || s.PagesS[10] != 7 || len(s.Gaps) != 1 || s.Gaps[0] != 100 ||
		s.PagesS[100] != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	s, err = x.Series(t.Context(), "s-1", start.Add(-time.Hour))
	if err != nil || s.StepS != 10 || len(s.At) < 24 || len(s.At) > 27 || s.Pages[len(s.Pages)-1] != 7*299 ||
		s.PagesS[3] != 7 {
		t.Fatalf("%+v, %v", s, err)
	}
	for i := range 5 * fineCount {
		x.Sample("s-2", Sample{At: start.Add(time.Duration(i) * time.Second)})
	}
	if n := len(x.series["s-2"].fine.list); n > fineCount*5/4 {
		t.Errorf("%d samples are kept", n)
	}
}

func TestHistogram(t *testing.T) {
	for _, ms := range []float64{0.05, 0.3, 1, 7, 80, 81, 950, 30_000, 1e7} {
		var h histogram
		h[bucketOf(time.Duration(ms*1e6))]++
		if p := h.quantile(0.5); p < ms*0.99 && ms < 30_001 || p > ms*1.3 && ms > 0.3 {
			t.Errorf("%v ms is told as %v", ms, p)
		}
		var back histogram
		back.merge(h.encode())
		if back != h {
			t.Errorf("%v ms: coding", ms)
		}
	}
}
