package explore

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var began = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// world is a directory of executions, written by hand.
type world struct {
	t    testing.TB
	dir  string
	job  crawl.Job
	live map[crawl.JobID]Live
	kept map[crawl.Digest][]byte
}

func newWorld(t testing.TB) *world {
	return &world{t: t, dir: t.TempDir(), job: crawl.DefaultJob(), live: map[crawl.JobID]Live{},
		kept: map[crawl.Digest][]byte{}}
}

func (w *world) source(_ context.Context, id crawl.JobID) (*Source, error) {
	dir := filepath.Join(w.dir, "executions", string(id))
	if _, err := os.Stat(dir); err != nil {
		return nil, ErrNotFound
	}
	return &Source{ID: id, Dir: dir, Job: &w.job, Live: w.live[id], Bodies: w}, nil
}

// Keep implements crawl.KeptBodies.
func (w *world) Keep(_ context.Context, _ crawl.JobID, d crawl.Digest, body []byte) error {
	w.kept[d] = body
	return nil
}

// Kept implements crawl.KeptBodies.
func (w *world) Kept(_ context.Context, _ crawl.JobID, d crawl.Digest) ([]byte, bool, error) {
	body, ok := w.kept[d]
	return body, ok, nil
}

func (w *world) append(id, name string, text []byte) {
	w.t.Helper()
	dir := filepath.Join(w.dir, "executions", id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) log(id string, lines ...crawl.LogLine) {
	var b []byte
	for i := range lines {
		b = jsonl.AppendLogLine(b, &lines[i])
	}
	w.append(id, "crawl.log", b)
}

func (w *world) pages(id string, records ...*crawl.Record) {
	var b []byte
	for _, r := range records {
		b = jsonl.AppendRecord(b, r)
	}
	w.append(id, "pages.jsonl", b)
}

// explorer runs an Explorer until the test ends.
func (w *world) explorer() *Explorer {
	x := Open(Options{Dir: filepath.Join(w.dir, "search"), Source: w.source, Eager: true})
	w.run(x)
	return x
}

func (w *world) run(x *Explorer) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
}

// caughtUp waits until the index of an execution has all that is there.
func caughtUp(t testing.TB, x *Explorer, id crawl.JobID) {
	t.Helper()
	ix := check1(t)(x.index(t.Context(), id))
	for deadline := time.Now().Add(10 * time.Minute); ; {
		if ix.caughtUp() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the index does not catch up: %+v", ix.Index())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// check1 fails the test where a call returns an error.
func check1(t testing.TB) func(*index, error) *index {
	return func(x *index, err error) *index { return must(t, x, err) }
}

func must[T any](t testing.TB, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func u(s string) weburl.URL {
	u, err := weburl.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

func line(url string, v crawl.Verdict, status int, change func(*crawl.LogLine)) crawl.LogLine {
	l := crawl.LogLine{At: began, URL: u(url), Verdict: v, Status: status, Attempt: 1}
	if status > 0 {
		l.Duration, l.Bytes = 80*time.Millisecond, 1000
	}
	if v == crawl.VerdictExcluded {
		l.Attempt = 0
	}
	if change != nil {
		change(&l)
	}
	return l
}

func record(url, title, text string, change func(*crawl.Record)) *crawl.Record {
	r := &crawl.Record{URL: u(url), FinalURL: u(url), Status: 200, FetchedAt: began, ContentType: "text/html",
		Charset: "utf-8", Title: title, Text: text, Lang: "en", Bytes: int64(len(text)),
		Digest: sha256.Sum256([]byte(title + text)), Simhash: 0xf0f0f0f0f0f0f0f0}
	if change != nil {
		change(r)
	}
	return r
}

// site writes a small execution: a seed, ten pages, one that failed, one left out, copies.
func (w *world) site(id string) {
	seed := "https://a.test/"
	lines := []crawl.LogLine{line("https://a.test/robots.txt", crawl.VerdictDone, 200,
		func(l *crawl.LogLine) { l.Kind = crawl.KindRobots }),
		line(seed, crawl.VerdictDone, 200, nil)}
	records := []*crawl.Record{record(seed, "Home", "Welcome to the fountain of whirls", func(r *crawl.Record) {
		r.Links = []crawl.Link{{URL: u("https://a.test/1"), Text: "one"}, {URL: u("https://a.test/out"), Text: "out"},
			{URL: u("https://a.test/never")}}
	})}
	for i := 1; i <= 10; i++ {
		url := fmt.Sprintf("https://a.test/%d", i)
		lines = append(lines, line(url, crawl.VerdictDone, 200, func(l *crawl.LogLine) {
			l.Depth, l.Referrer, l.At = 1, u(seed), began.Add(time.Duration(i)*time.Second)
		}))
		records = append(records, record(url, fmt.Sprintf("Page %d", i),
			fmt.Sprintf("The text of page number%d is about rivers", i), func(r *crawl.Record) {
				r.Depth, r.Referrer = 1, u(seed)
				r.Fields = []crawl.Field{{Name: "price", Value: float64(i % 3)},
					{Name: "tags", Value: []any{"x", fmt.Sprint("t", i)}}}
			}))
	}
	lines = append(lines,
		line("https://b.test/slow", crawl.VerdictRetry, 0,
			func(l *crawl.LogLine) { l.Reason, l.Depth, l.Duration = "timeout", 2, time.Second }),
		line("https://b.test/slow", crawl.VerdictFailed, 0, func(l *crawl.LogLine) {
			l.Reason, l.Depth, l.Duration, l.Attempt = "timeout", 2, time.Second, 2
		}),
		line("https://b.test/gone", crawl.VerdictGone, 404,
			func(l *crawl.LogLine) { l.Reason, l.Depth, l.Referrer = "status", 2, u("https://a.test/1") }),
		line("https://a.test/out", crawl.VerdictExcluded, 0,
			func(l *crawl.LogLine) { l.Reason, l.Depth, l.Referrer = "exclude", 1, u(seed) }))
	records = append(records,
		record("https://a.test/copy", "Page 1", "",
			func(r *crawl.Record) { r.DuplicateOf, r.Similarity = u("https://a.test/1"), "exact" }),
		record("https://b.test/near", "Page 1b", "", func(r *crawl.Record) {
			r.DuplicateOf, r.Similarity, r.Simhash = u("https://a.test/1"), "near", 0xf0f0f0f0f0f0f0f3
		}))
	w.log(id, lines...)
	w.pages(id, records...)
}
