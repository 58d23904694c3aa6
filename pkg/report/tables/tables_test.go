package tables

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func url(tb testing.TB, s string) weburl.URL {
	tb.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// sample is a log: two hosts, a retry, a page that was taken back and fetched again, URLs left out, robots.txt.
func sample(tb testing.TB) []crawl.LogLine {
	line := func(second int, u string, kind crawl.Kind, v crawl.Verdict, status int, reason string, size int64,
		mime string) crawl.LogLine {
		l := crawl.LogLine{At: begin.Add(time.Duration(second) * time.Second), URL: url(tb, u), Kind: kind, Verdict: v,
			Status: status, Reason: reason, Bytes: size, ContentType: mime}
		if v != crawl.VerdictExcluded {
			l.Duration = time.Millisecond
		}
		return l
	}
	const page, robots = crawl.KindPage, crawl.KindRobots
	return []crawl.LogLine{
		line(0, "http://a.test/robots.txt", robots, crawl.VerdictGone, 404, "status", 10, "text/plain"),
		line(1, "http://a.test/", page, crawl.VerdictDone, 200, "", 100, "text/html"),
		line(2, "http://a.test/1", page, crawl.VerdictRetry, 503, "status", 5, ""),
		line(3, "http://b.test/", page, crawl.VerdictDone, 301, "", 0, ""),
		line(4, "http://a.test/1", page, crawl.VerdictDone, 200, "", 50, "text/html"),
		line(5, "http://a.test/", page, crawl.VerdictDone, 200, "", 100, "text/html"), // again
		line(6, "http://b.test/x", page, crawl.VerdictFailed, 0, "timeout", 0, ""),
		line(7, "http://a.test/out", page, crawl.VerdictExcluded, 0, "scope", 0, ""),
		line(8, "http://a.test/pdf", page, crawl.VerdictGone, 404, "status", 7, "=1+1"),
		line(10, "http://a.test/later", page, crawl.VerdictExcluded, 0, "depth", 0, ""),
	}
}

func source(tb testing.TB, lines []crawl.LogLine) Source {
	return Source{
		Lines: func(_ context.Context, each func(*crawl.LogLine) error) error {
			for i := range lines {
				if err := each(&lines[i]); err != nil {
					return err
				}
			}
			return nil
		},
		Open: func(_ context.Context, each func(weburl.Key) error) error {
			for _, u := range []string{"http://b.test/q1", "http://a.test/q", "http://b.test/q2", "http://c.test/"} {
				if err := each(url(tb, u).Key()); err != nil {
					return err
				}
			}
			return nil
		},
		Seeds: []weburl.URL{url(tb, "http://a.test/"), url(tb, "http://b.test/x"), url(tb, "http://a.test/pdf"),
			url(tb, "http://none.test/")},
	}
}

func made(tb testing.TB, src Source) *Tables {
	tb.Helper()
	t, err := Make(tb.Context(), src, tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := t.Close(); err != nil {
			tb.Error(err)
		}
	})
	return t
}

func written(tb testing.TB, t *Tables, format string, top int, names ...string) string {
	tb.Helper()
	var out bytes.Buffer
	if err := t.Write(&out, format, top, names...); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

func TestFigures(t *testing.T) {
	var got struct {
		Hosts        []Host
		MIME, Status []Count
		Seeds        []Seed
		Reasons      []Reason
	}
	if err := json.Unmarshal([]byte(written(t, made(t, source(t, sample(t))), JSON, 0, Names()...)), &got); err != nil {
		t.Fatal(err)
	}
	one, two := int64(1), int64(2)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(want)
			t.Errorf("%s:\n got %s\nwant %s", what, g, w)
		}
	}
	check("hosts", got.Hosts, []Host{
		{URLs: 3, Bytes: 272, Requests: 6, Done: 2, Gone: 1, Excluded: 2, Remaining: &one, Rate: 0.75, ByteRate: 34,
			Host: "a.test", First: at(0), Last: at(8),
			Error: &HostError{At: at(2), URL: "http://a.test/1", Status: 503, Reason: "status"}},
		{URLs: 2, Requests: 2, Done: 1, Failed: 1, Remaining: &two, Rate: 0.67, Host: "b.test", First: at(3), Last: at(6),
			Error: &HostError{At: at(6), URL: "http://b.test/x", Reason: "timeout"}},
	})
	check("media types", got.MIME, []Count{{2, 150, "text/html"}, {1, 0, "(none)"}, {1, 7, "=1+1"}})
	check("status", got.Status, []Count{{2, 150, "200"}, {1, 0, "301"}, {1, 7, "404"}})
	check("seeds", got.Seeds, []Seed{
		{Status: notCrawled, Verdict: "failed", Reason: "timeout", Seed: "http://b.test/x"},
		{Status: notCrawled, Seed: "http://none.test/"},
		{Code: 404, Status: notCrawled, Verdict: "gone", Reason: "status", Seed: "http://a.test/pdf"},
		{Code: 200, Status: crawled, Verdict: "done", Seed: "http://a.test/"},
	})
	check("reasons", got.Reasons, []Reason{
		{3, "done", "", "http://a.test/"}, {1, "excluded", "depth", "http://a.test/later"},
		{1, "excluded", "scope", "http://a.test/out"}, {1, "failed", "timeout", "http://b.test/x"},
		{1, "gone", "status", "http://a.test/pdf"},
	})
}

// What is sorted on disk, in whatever order it came, makes the same tables.
func TestSpilledRowsMakeTheSameTables(t *testing.T) {
	lines := sample(t)
	for i := range 3000 {
		lines = append(lines, crawl.LogLine{At: begin, URL: url(t, fmt.Sprintf("http://h%d.test/%d", i%700, i)),
			Verdict: crawl.VerdictDone, Status: 200, Bytes: int64(i), Duration: time.Second})
	}
	want := written(t, made(t, source(t, lines)), CSV, 0, Names()...)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	spillLimit = 10_000
	defer func() { spillLimit = spillBytes }()
	spilled := made(t, source(t, lines))
	if len(spilled.hosts.files) == 0 {
		t.Error("nothing was written to disk")
	}
	if got := written(t, spilled, CSV, 0, Names()...); got != want {
		t.Errorf("spilled tables differ: %d bytes, want %d", len(got), len(want))
	}
	if top := written(t, spilled, CSV, 2, Hosts); strings.Count(top, "\n") != 3 {
		t.Errorf("the first two hosts: %s", top)
	}
}

func TestText(t *testing.T) {
	got := written(t, made(t, source(t, sample(t))), Text, 1, Status, Seeds)
	want := "# status: 3\n    urls           bytes  status\n       2             150  200\n\n# seeds: 4\n" +
		"code  status       verdict   reason              seed                                      redirect\n" +
		"   0  not-crawled  failed    timeout             http://b.test/x\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSpreadsheetRunsNoMediaType(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(written(t, made(t, source(t, sample(t))), CSV, 0, MIME))).ReadAll()
	if err != nil || !slices.ContainsFunc(rows, func(r []string) bool { return r[2] == "'=1+1" }) {
		t.Errorf("%q, %v", rows, err)
	}
}

func TestMediaTypesAreBounded(t *testing.T) {
	c := counts{}
	for i := range 3 * maxNames {
		c.add(fmt.Sprint("type/", i), 1)
	}
	if rows := c.sorted(); len(rows) != maxNames+1 || rows[0].Name != otherNames || rows[0].URLs != 2*maxNames {
		t.Errorf("%d rows, the first %+v", len(rows), rows[0])
	}
}

func TestUnknownReportsAndFormats(t *testing.T) {
	tables := made(t, source(t, nil))
	if tables.Write(&bytes.Buffer{}, "xml", 0, Hosts) == nil || tables.Write(&bytes.Buffer{}, CSV, 0, "weather") == nil {
		t.Error("accepted")
	}
}

func FuzzEntry(f *testing.F) {
	for _, l := range sample(f) {
		f.Add(appendEntry(nil, &l, 7))
	}
	f.Fuzz(func(_ *testing.T, row []byte) {
		var e entry
		_ = e.decode(row)
	})
}

// A render is no request and no outcome; a resource is a request, and no URL that was to be crawled.
func TestRendersAndResourcesAreNoOutcomes(t *testing.T) {
	lines := sample(t)
	want := written(t, made(t, source(t, lines)), JSON, 0, Names()...)
	render := lines[1]
	render.Kind, render.At, render.Verdict, render.Status, render.Reason = crawl.KindRender, begin.Add(time.Minute),
		crawl.VerdictFailed, 0, "render-hang"
	lines = append(lines, render)
	if got := written(t, made(t, source(t, lines)), JSON, 0, Names()...); got != want {
		t.Errorf("a render changes\n%s\nto\n%s", want, got)
	}
	resource := lines[4]
	resource.Kind, resource.Verdict, resource.Status, resource.Bytes = crawl.KindResource, crawl.VerdictGone, 404, 1000
	var before, after struct {
		Hosts   []Host
		Reasons []Reason
		Status  []Count
	}
	got := written(t, made(t, source(t, append(lines, resource))), JSON, 0, Names()...)
	if err := errors.Join(json.Unmarshal([]byte(want), &before), json.Unmarshal([]byte(got), &after)); err != nil {
		t.Fatal(err)
	}
	h, b := &after.Hosts[0], &before.Hosts[0]
	if h.Requests != b.Requests+1 || h.Bytes != b.Bytes+1000 || h.URLs != b.URLs || h.Gone != b.Gone {
		t.Errorf("a resource makes %+v of %+v", h, b)
	}
	if !reflect.DeepEqual(after.Reasons, before.Reasons) || !reflect.DeepEqual(after.Status, before.Status) {
		t.Errorf("a resource changes\n%s\nto\n%s", want, got)
	}
}
