package fetcher

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// discard is a spool that keeps nothing.
type discard struct{ *memory }

func (discard) Put(_ context.Context, r io.Reader) (crawl.BodyRef, error) {
	_, err := io.Copy(io.Discard, r)
	return "x", err
}

// BenchmarkFetch compares a fetch with a bare GET whose body is thrown away, of the same page from the same server, in
// turns, so that whatever else the machine does hits both:
//
//	go test -run xxx -bench Fetch -benchmem ./pkg/stages/fetcher
//
// The bare GET leaves gzip to net/http.
func BenchmarkFetch(b *testing.B) {
	page := text(30_000)
	for _, enc := range []string{"identity", "gzip"} {
		data := page
		if enc == "gzip" {
			data = encode(b, page, "gzip")
		}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", enc)
			_, _ = w.Write(data)
		}))
		b.Run(enc, func(b *testing.B) { inTurns(b, bare(b, s.URL), handle(b, s.URL)) })
		s.Close()
	}
}

// inTurns reports the times of both and their ratio.
func inTurns(b *testing.B, bare, fetch func()) {
	var times [2]time.Duration
	b.ReportAllocs()
	for b.Loop() {
		for i, f := range []func(){bare, fetch} {
			start := time.Now()
			f()
			times[i] += time.Since(start)
		}
	}
	b.ReportMetric(float64(times[0])/float64(b.N), "bare-ns")
	b.ReportMetric(float64(times[1])/float64(b.N), "fetch-ns")
	b.ReportMetric(float64(times[1])/float64(times[0]), "ratio")
}

func bare(b *testing.B, url string) func() {
	client := &http.Client{Transport: &http.Transport{}}
	b.Cleanup(client.CloseIdleConnections)
	return func() {
		resp, err := client.Get(url)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
	}
}

func handle(b *testing.B, url string) func() {
	t := newBench(b, func(_ *Config, d *Deps, _ *crawl.Job) { d.Bodies = discard{} })
	f := &crawl.Fetch{Task: crawl.Task{Job: "test", URL: parse(b, url)}}
	return func() {
		events, err := t.h.Handle(b.Context(), f)
		if err != nil || len(events) != 2 {
			b.Fatal(events, err)
		}
	}
}
