package explore

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestServerLog(t *testing.T) {
	ring := NewRing()
	log := slog.New(ring.Handler(slog.NewTextHandler(io.Discard, nil), slog.LevelInfo))
	x := Open(Options{Ring: ring})
	for i := range ringLines + 500 {
		log.Info("line", "n", i, "job", fmt.Sprint("j-", i%2))
	}
	log.With("execution", "j-9").Warn("a warning", "url", "https://a.test/")
	log.Debug("too low")
	l := must1(x.Logs(t.Context(), LogFilter{}, Page{Limit: 3}))
	if len(l.Items) != 3 || l.Items[0].Message != "a warning" || l.Items[0].Execution != "j-9" ||
		l.Items[0].URL != "https://a.test/" || l.Next == "" {
		t.Fatalf("%+v", l)
	}
	warn := must1(x.Logs(t.Context(), LogFilter{Level: "WARN"}, Page{}))
	if len(warn.Items) != 1 || warn.Next != "" || warn.Scanned != ringLines {
		t.Errorf("%d lines, %d scanned", len(warn.Items), warn.Scanned)
	}
	one, err := x.LogLine(t.Context(), l.Items[1].ID)
	if err != nil || one.ID != l.Items[1].ID {
		t.Errorf("%+v, %v", one, err)
	}
	seen, n := 0, 0
	for page := (Page{Limit: 200}); n < 200; n++ {
		l := must1(x.Logs(t.Context(), LogFilter{Source: "server", Execution: "j-1"}, page))
		seen += len(l.Items)
		if page.Cursor = l.Next; l.Next == "" {
			break
		}
	}
	if seen < ringLines/2-2 || seen > ringLines/2 {
		t.Errorf("%d lines of j-1", seen)
	}
	log.Info("later")
	after := must1(x.Logs(t.Context(), LogFilter{After: l.Items[0].ID}, Page{}))
	if len(after.Items) != 1 || after.Items[0].Message != "later" {
		t.Errorf("%+v", after)
	}
	if _, err := x.LogLine(t.Context(), "s0.1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a line of another run: %v", err)
	}
}

func must1(l *List[LogLine], err error) *List[LogLine] {
	if err != nil {
		panic(err)
	}
	return l
}

func TestCrawlLog(t *testing.T) {
	w := newWorld(t)
	const n = 3_000
	var lines []crawl.LogLine
	for i := range n {
		lines = append(lines, line(fmt.Sprintf("https://h%d.test/%d", i%7, i), crawl.VerdictDone, 200,
			func(l *crawl.LogLine) {
				l.At, l.Reason, l.Detail = began.Add(time.Duration(i)*time.Second), "", fmt.Sprint("detail ", i)
				if i%100 == 0 {
					l.Verdict, l.Status = crawl.VerdictFailed, 0
				}
			}))
	}
	w.log("s-1", lines...)
	w.append("s-1", "crawl.log", []byte(`{"time":"2026`)) // not whole yet
	x := w.explorer()
	seen, page := []string{}, Page{Limit: 150}
	for range 100 {
		l := must1(x.Logs(t.Context(), LogFilter{Execution: "s-1"}, page))
		for _, i := range l.Items {
			seen = append(seen, i.URL)
		}
		if page.Cursor = l.Next; l.Next == "" {
			break
		}
	}
	if len(seen) != n || seen[0] != "https://h3.test/2999" || seen[n-1] != "https://h0.test/0" {
		t.Fatalf("%d lines, from %s to %s", len(seen), seen[0], seen[len(seen)-1])
	}
	failed := must1(x.Logs(t.Context(), LogFilter{Execution: "s-1", Level: "ERROR", Host: "h0.test"}, Page{}))
	if len(failed.Items) != 5 || failed.Items[0].Verdict != "failed" || failed.Next != "" {
		t.Fatalf("%+v", failed)
	}
	one, err := x.LogLine(t.Context(), failed.Items[2].ID)
	if err != nil || one.URL != failed.Items[2].URL {
		t.Errorf("%+v, %v", one, err)
	}
	w.append("s-1", "crawl.log", []byte("…\n"))
	w.log("s-1", lines[0], lines[1])
	after := must1(x.Logs(t.Context(), LogFilter{Execution: "s-1",
		After: must1(x.Logs(t.Context(), LogFilter{Execution: "s-1"}, Page{Limit: 3})).Items[2].ID}, Page{}))
	if len(after.Items) != 2 {
		t.Errorf("%+v", after)
	}
}

// A filter finds what it finds by looking at each line whole, though lines that cannot match are not read.
func TestAFilterOfTheCrawlLogPassesOverNoLine(t *testing.T) {
	w := newWorld(t)
	var lines []crawl.LogLine
	for i, detail := range []string{"plain", "with \"quotes\"", "no\x01where", "a&b", "back\\slash", "größer", "nowhere"} {
		lines = append(lines, line(fmt.Sprintf("https://h%d.test/a?b=%d&c", i%3, i), crawl.VerdictGone, 404,
			func(l *crawl.LogLine) {
				l.Detail, l.At = detail, began.Add(time.Duration(i)*time.Second)
			}))
	}
	w.log("s-1", lines...)
	x := w.explorer()
	all := must1(x.Logs(t.Context(), LogFilter{Execution: "s-1", Source: "crawl"}, Page{}))
	if len(all.Items) != len(lines) {
		t.Fatalf("%d lines", len(all.Items))
	}
	for _, f := range []LogFilter{{Query: "nowhere"}, {Query: "a&b"}, {Query: `\"`}, {Query: "größer"},
		{Query: "gone 404"}, {Query: `"attempt":1`}, {Query: "b=3&c"}, {Query: "h1.test"}, {Query: "depth"},
		{Host: "h2.test"}, {Verdict: "gone", Query: "3"}, {Level: "ERROR"}} {
		var want []string
		for _, l := range all.Items {
			level := slog.LevelDebug
			if f.Level != "" {
				level = slog.LevelError
			}
			if f.matches(&l, level) {
				want = append(want, l.ID)
			}
		}
		f.Execution, f.Source = "s-1", "crawl"
		var got []string
		for _, l := range must1(x.Logs(t.Context(), f, Page{})).Items {
			got = append(got, l.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %v; want %v", f, got, want)
		}
	}
}
