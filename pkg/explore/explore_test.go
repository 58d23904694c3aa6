package explore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func urls(list []Task) string {
	var out []string
	for _, t := range list {
		out = append(out, strings.TrimPrefix(strings.TrimPrefix(t.URL, "https://"), "http://"))
	}
	return strings.Join(out, " ")
}

func TestTasks(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	x := w.explorer()
	caughtUp(t, x, "s-1")
	one := 1
	for _, c := range []struct {
		name string
		f    TaskFilter
		want string
	}{
		{"timed out", TaskFilter{State: TimedOut}, "b.test/slow"},
		{"failed", TaskFilter{State: Failed}, "b.test/gone"},
		{"excluded", TaskFilter{State: Excluded}, "a.test/out"},
		{"host", TaskFilter{Host: "b.test"}, "b.test/gone b.test/slow"},
		{"reason", TaskFilter{Reason: "exclude"}, "a.test/out"},
		{"unknown reason", TaskFilter{Reason: "no-such"}, ""},
		{"status", TaskFilter{Status: 404}, "b.test/gone"},
		{"class", TaskFilter{Status: 4}, "b.test/gone"},
		{"kind", TaskFilter{Kind: "robots"}, "a.test/robots.txt"},
		{"depth and part", TaskFilter{Depth: &one, Query: "t/1"}, "a.test/10 a.test/1"},
		{"prefix", TaskFilter{Query: "https://b.test/s"}, "b.test/slow"},
		{"verdict and state", TaskFilter{Verdict: "done", State: Excluded}, ""},
	} {
		l := must2(t)(x.Tasks(t.Context(), "s-1", c.f, Page{}))
		if got := urls(l.Items); got != c.want || l.Next != "" {
			t.Errorf("%s: %q (next %q), want %q", c.name, got, l.Next, c.want)
		}
	}
	all := must2(t)(x.Tasks(t.Context(), "s-1", TaskFilter{Query: "b.test/slow"}, Page{})).Items
	if s := all[0]; s.Attempts != 2 || s.MS != 1000 || s.State != TimedOut || s.Verdict != "failed" ||
		s.Reason != "timeout" || s.Depth != 2 {
		t.Errorf("task %+v", s)
	}
}

// URLs and hosts are stored as they are asked for; people type them as they read them.
func TestPartsOfURLsAsPeopleTypeThem(t *testing.T) {
	w := newWorld(t)
	w.log("s-1", line("https://a.test/%D8%B9%D8%B1%D8%A8%D9%8A/1", crawl.VerdictDone, 200, nil),
		line("https://b.test/other", crawl.VerdictDone, 200, nil))
	x := w.explorer()
	caughtUp(t, x, "s-1")
	for _, q := range []string{"عربي", "https://a.test/عربي", "%D8%B9"} {
		l := must2(t)(x.Tasks(t.Context(), "s-1", TaskFilter{Query: q}, Page{}))
		if got := urls(l.Items); got != "a.test/%D8%B9%D8%B1%D8%A8%D9%8A/1" {
			t.Errorf("%q finds the URLs %q", q, got)
		}
	}
	if l := must1(x.Logs(t.Context(), LogFilter{Execution: "s-1", Query: "عربي"}, Page{})); len(l.Items) != 1 {
		t.Errorf("%d lines of the log", len(l.Items))
	}
	if l, err := x.Hosts(t.Context(), "s-1", HostFilter{Query: "A.Test"}, Page{}); err != nil || len(l.Items) != 1 {
		t.Errorf("hosts %+v, %v", l, err)
	}
}

func must2(t testing.TB) func(*List[Task], error) *List[Task] {
	return func(l *List[Task], err error) *List[Task] { return must(t, l, err) }
}

func TestPagesOfTasksAreAllTasks(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	w.live["s-1"] = liveOf("https://a.test/", 1, 7)
	x := w.explorer()
	caughtUp(t, x, "s-1")
	seen, n, cursor := map[string]int{}, 0, ""
	for {
		l := must2(t)(x.Tasks(t.Context(), "s-1", TaskFilter{}, Page{Limit: 3, Cursor: cursor}))
		for _, task := range l.Items {
			seen[task.URL]++
		}
		if n++; l.Next == "" || n > 50 {
			break
		}
		cursor = l.Next
	}
	if len(seen) != 22 {
		t.Errorf("%d tasks in %d pages: %v", len(seen), n, seen)
	}
	for url, times := range seen {
		if times != 1 {
			t.Errorf("%s was listed %d times", url, times)
		}
	}
	if _, err := x.Tasks(t.Context(), "s-1", TaskFilter{Host: "a.test"}, Page{Cursor: cursor}); !errors.Is(err,
		ErrCursor) {
		t.Errorf("a cursor of another list: %v", err)
	}
}

// Hosts have the pages together that their execution has: a file whose type is refused is none.
func TestPagesOfAHostAreThoseThatAreKept(t *testing.T) {
	var h hostDelta
	for _, v := range []crawl.Verdict{crawl.VerdictRefused, crawl.VerdictDone, crawl.VerdictRetry} {
		h.add(&crawl.LogLine{Kind: crawl.KindPage, Verdict: v, Status: 200})
	}
	if h.pages != 1 || h.requests != 3 || h.classes[2] != 3 {
		t.Errorf("%+v", h)
	}
}

// Page after page of a list in any order shows each host once, in that order; where the order is by key, backwards too.
func TestPagesOfHosts(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	x := w.explorer()
	caughtUp(t, x, "s-1")
	for sort, want := range map[string]string{"key": "a.test b.test", "-key": "b.test a.test", "requests": "b.test a.test",
		"-requests": "a.test b.test", "queued": "a.test b.test", "-queued": "a.test b.test"} {
		var keys []string
		for p := (Page{Limit: 1}); ; {
			l, err := x.Hosts(t.Context(), "s-1", HostFilter{Sort: sort}, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range l.Items {
				keys = append(keys, h.Key)
			}
			if p.Cursor = l.Next; p.Cursor == "" {
				break
			}
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("by %s: %s, want %s", sort, got, want)
		}
	}
}

func TestHosts(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	x := w.explorer()
	caughtUp(t, x, "s-1")
	l, err := x.Hosts(t.Context(), "s-1", HostFilter{Sort: "-requests"}, Page{Limit: 1})
	if err != nil || len(l.Items) != 1 || l.Next == "" || l.Total != 2 {
		t.Fatalf("%+v, %v", l, err)
	}
	a := l.Items[0]
	if a.Key != "a.test" || a.Requests != 12 || a.Pages != 11 || a.Classes["2xx"] != 12 || a.Excluded != 1 || a.P50 < 70 ||
		a.P50 > 110 {
		t.Errorf("host %+v", a)
	}
	l, err = x.Hosts(t.Context(), "s-1", HostFilter{Sort: "-requests"}, Page{Limit: 1, Cursor: l.Next})
	if err != nil || len(l.Items) != 1 || l.Items[0].Key != "b.test" || l.Next != "" {
		t.Fatalf("%+v, %v", l, err)
	}
	if b := l.Items[0]; b.Failures != 2 || b.Failed != 2 || b.Requests != 3 {
		t.Errorf("host %+v", b)
	}
	s, err := x.Host(t.Context(), "s-1", "a.test")
	if err != nil || len(s.Line) != 12 || s.Line[11].Gap != "delay" {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := x.Host(t.Context(), "s-1", "c.test"); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown host: %v", err)
	}
}

func TestRecords(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	x := w.explorer()
	caughtUp(t, x, "s-1")
	for _, c := range []struct {
		name string
		f    RecordFilter
		want int
	}{
		{"all", RecordFilter{}, 13},
		{"word", RecordFilter{Query: "rivers"}, 10},
		{"phrase", RecordFilter{Query: `"fountain of whirls"`}, 1},
		{"start", RecordFilter{Query: "founta*"}, 1},
		{"without", RecordFilter{Query: "rivers -number3"}, 9},
		{"syntax is no syntax", RecordFilter{Query: `rivers NEAR( AND '; DROP`}, 0},
		{"in the title", RecordFilter{Query: "title:page rivers"}, 10},
		{"not in the text", RecordFilter{Query: "title:rivers"}, 0},
		{"in the URL", RecordFilter{Query: "url:b url:near OR title:home"}, 0},
		{"one of two", RecordFilter{Query: "number3 OR number4 OR whirls"}, 3},
		{"the newest first", RecordFilter{Query: "rivers", Sort: Newest}, 10},
		{"since", RecordFilter{Query: "rivers", Since: began}, 10},
		{"since later", RecordFilter{Query: "rivers", Since: began.Add(time.Millisecond)}, 0},
		{"until", RecordFilter{Until: began}, 0},
		{"language with its regions", RecordFilter{Lang: "EN"}, 13},
		{"copies", RecordFilter{Duplicates: "only"}, 2},
		{"near", RecordFilter{Duplicates: "near"}, 1},
		{"field", RecordFilter{Fields: map[string]string{"price": "1"}}, 4},
		{"list field", RecordFilter{Fields: map[string]string{"tags": "t4"}}, 1},
		{"has field", RecordFilter{Fields: map[string]string{"price": ""}, Query: "rivers"}, 10},
		{"language", RecordFilter{Lang: "de"}, 0},
		{"host", RecordFilter{Host: "b.test"}, 1},
	} {
		l, err := x.Records(t.Context(), "s-1", c.f, Page{Limit: 100})
		if err != nil || len(l.Items) != c.want {
			t.Errorf("%s: %d records, %v, want %d", c.name, len(l.Items), err, c.want)
		}
		if n := picked(t, x, "s-1", c.f); n != c.want {
			t.Errorf("%s: an export has %d records, want %d", c.name, n, c.want)
		}
	}
	w.pages("s-1", record("https://a.test/blocks", "Blocks", "objects", func(r *crawl.Record) {
		r.Fields = []crawl.Field{{Name: "offers", Value: []any{map[string]any{"pay": 1.5}, map[string]any{"pay": 2.5}}}}
	}))
	caughtUp(t, x, "s-1")
	b, err := x.Records(t.Context(), "s-1",
		RecordFilter{Fields: map[string]string{"offers": ""}, Columns: []string{"offers"}, Facets: true}, Page{})
	if err != nil || len(b.Items) != 1 || string(b.Items[0].Fields["offers"]) != `[{"pay":1.5},{"pay":2.5}]` ||
		len(b.Facets.Fields[0].Values) != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	l, err := x.Records(t.Context(), "s-1", RecordFilter{Query: "number3", Facets: true, Columns: []string{"price"}},
		Page{})
	if err != nil || len(l.Items) != 1 {
		t.Fatalf("%+v, %v", l, err)
	}
	if r := l.Items[0]; string(r.Fields["price"]) != "0" || len(r.Snippet) < 2 || !r.Snippet[1].Hit {
		t.Errorf("%+v", r)
	}
	if f := l.Facets; f.Of != 1 || f.Langs[0] != (Count{"en", 1}) || len(f.Fields) != 2 {
		t.Errorf("facets %+v", f)
	}
}

// picked counts the records of an execution that an export with the filter has.
func picked(t *testing.T, x *Explorer, id crawl.JobID, f RecordFilter) (n int) {
	t.Helper()
	picks, err := x.Picked(t.Context(), id, f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := x.Records(t.Context(), id, RecordFilter{}, Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Items {
		if picks(&crawl.Record{URL: u(r.URL)}) {
			n++
		}
	}
	return n
}

func TestRecordAndItsCopies(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	x := w.explorer()
	caughtUp(t, x, "s-1")
	r, err := x.Record(t.Context(), "s-1", "https://a.test/")
	if err != nil || len(r.Links) != 3 || r.Links[0].State != Done || r.Links[1].Reason != "exclude" ||
		r.Links[2].State != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	one, err := x.Record(t.Context(), "s-1", "https://a.test/1")
	if err != nil || len(one.Copies) != 2 || one.Copies[1].Distance != 2 {
		t.Fatalf("%+v, %v", one, err)
	}
	again, err := x.Record(t.Context(), "s-1", one.Copies[1].Key)
	if err != nil || again.Original == nil || again.Original.URL != "https://a.test/1" || again.Original.Distance != 2 ||
		len(again.Copies) != 1 {
		t.Fatalf("%+v, %v", again, err)
	}
	cl, err := x.Clusters(t.Context(), "s-1", ClusterFilter{}, Page{})
	if err != nil || len(cl.Items) != 1 || cl.Items[0].Size != 3 || cl.Items[0].Exact != 1 || cl.Items[0].Hosts != 2 {
		t.Fatalf("%+v, %v", cl, err)
	}
	whole, err := x.Cluster(t.Context(), "s-1", cl.Items[0].ID, Page{Limit: 2})
	if err != nil || len(whole.Members.Items) != 2 || whole.Members.Items[0].Similarity != "original" ||
		whole.Members.Next == "" {
		t.Fatalf("%+v, %v", whole, err)
	}
	whole, err = x.Cluster(t.Context(), "s-1", cl.Items[0].ID, Page{Limit: 2, Cursor: whole.Members.Next})
	if err != nil || len(whole.Members.Items) != 1 || whole.Members.Items[0].Similarity != "near" {
		t.Fatalf("%+v, %v", whole, err)
	}
	if none, err := x.Clusters(t.Context(), "s-1", ClusterFilter{Distance: 1}, Page{}); err != nil ||
		len(none.Items) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	d, err := x.TextDiff(t.Context(), "s-1", "https://a.test/1", "s-1", "https://a.test/2")
	if err != nil || len(d.Pieces) != 4 || d.Pieces[1].Text != "number1" {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = x.TextDiff(t.Context(), "s-1", "https://a.test/1", "s-1", "https://b.test/near"); err != nil ||
		d.B.Source != "none" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestChainAndWhirl(t *testing.T) {
	w := newWorld(t)
	w.site("s-1")
	w.live["s-1"] = liveOf("https://c.test/", 3, 40)
	x := w.explorer()
	caughtUp(t, x, "s-1")
	c, err := x.Chain(t.Context(), "s-1", "https://b.test/gone")
	if err != nil || urls(c.Hops) != "b.test/gone a.test/1 a.test/" || !c.Whole {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = x.Chain(t.Context(), "s-1", "https://a.test/")
	if err != nil || len(c.From) != 11 || len(c.Links) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	s, err := x.Whirl(t.Context(), "s-1")
	if err != nil || len(s.Sectors) != 3 || s.Sectors[0].Host != "c.test" || s.Sectors[0].Queued != 40 || s.Depths != 4 {
		t.Errorf("%+v, %v", s, err)
	}
	var done, failed int64 // robots.txt is no page
	for _, c := range s.Cells {
		done, failed = done+c.Done, failed+c.Failed
	}
	if done != 11 || s.Sectors[1].Host != "a.test" || s.Sectors[1].Done+s.Sectors[2].Done != done+failed {
		t.Errorf("%d done, %d failed: %+v", done, failed, s)
	}
	n, err := x.TaskCounts(t.Context(), "s-1")
	if err != nil || n.States[0] != (Count{Done, 12}) || len(n.Depths) != 4 || n.Depths[3].Queued != 40 {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestCompare(t *testing.T) {
	w := newWorld(t)
	w.pages("s-1", record("https://a.test/same", "Same", "The same", nil),
		record("https://a.test/old", "Old", "Gone", nil), record("https://a.test/other", "Other", "One two three", nil),
		record("https://a.test/touched", "T", "As it was", nil))
	w.pages("s-2", record("https://a.test/same", "Same", "The same", nil),
		record("https://a.test/new", "New", "Come", nil),
		record("https://a.test/other", "Other", "One two four", func(r *crawl.Record) { r.Simhash = 1 }),
		record("https://a.test/touched", "T", "As it was", func(r *crawl.Record) { r.Digest[0]++ }))
	x := w.explorer()
	caughtUp(t, x, "s-1")
	caughtUp(t, x, "s-2")
	c, err := x.Compare(t.Context(), "s-1", "s-2")
	if err != nil || c.New != 1 || c.Gone != 1 || c.Changed != 1 || c.Touched != 1 || c.Same != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	for change, want := range map[Change]string{New: "new", Gone: "old", Changed: "other", Touched: "touched",
		Same: "same"} {
		l, err := x.Changes(t.Context(), "s-1", "s-2", change, Page{})
		if err != nil || len(l.Items) != 1 || l.Items[0].URL != "https://a.test/"+want || l.Items[0].Change != change ||
			l.Next != "" {
			t.Errorf("%s: %+v, %v", change, l, err)
		}
	}
	seen, cursor := map[string]Change{}, ""
	for n := 0; n < 20; n++ {
		l, err := x.Changes(t.Context(), "s-1", "s-2", "", Page{Limit: 1, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range l.Items {
			seen[i.URL] = i.Change
		}
		if cursor = l.Next; cursor == "" {
			break
		}
	}
	if len(seen) != 4 {
		t.Errorf("all that is not the same: %v", seen)
	}
	d, err := x.TextDiff(t.Context(), "s-1", "https://a.test/other", "s-2", "https://a.test/other")
	if err != nil || len(d.Pieces) != 3 || d.Pieces[1].Text != "three" || d.Pieces[2].Text != "four" {
		t.Errorf("%+v, %v", d, err)
	}
}
