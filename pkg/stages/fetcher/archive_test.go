package fetcher

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestExchangesAreArchivedAsDecoded(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		data := encode(t, text(5000), "gzip")
		switch r.URL.Path {
		case "/moved":
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusMovedPermanently)
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
		case "/odd":
			w.Header().Set("Content-Encoding", "compress")
			w.WriteHeader(http.StatusNotFound)
		case "/same":
			w.Header().Del("Content-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(data)
	})
	b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) { d.Archive = d.Bodies.(*memory) })
	for i, path := range []string{"/", "/moved", "/gone", "/robots.txt", "/odd", "/same"} {
		r := b.get(url+path, func(f *crawl.Fetch) {
			f.Task.ETag = `"x"`
			if path == "/robots.txt" {
				asRobots(f)
			}
		})
		if len(b.mem.exchanges) != i+1 {
			t.Fatalf("%s: %d exchanges, want %d", path, len(b.mem.exchanges), i+1)
		}
		x := b.mem.exchanges[i]
		want := text(5000)
		if path == "/odd" || path == "/same" {
			want = nil
		}
		if !bytes.Equal(x.Body, want) || x.URL.String() != url+path || x.Started.IsZero() || x.Duration <= 0 ||
			x.Addr != loopback || x.NotModified != (path == "/same") || !strings.HasPrefix(x.Status, fmt.Sprint(r.Status)) ||
			x.Proto != "HTTP/1.1" {
			t.Errorf("%s: %+v", path, x)
		}
		if x.RequestHeader.Get("Host") == "" || x.RequestHeader.Get("User-Agent") == "" ||
			x.ResponseHeader.Get("Content-Encoding") != "" {
			t.Errorf("%s: headers %v, %v", path, x.RequestHeader, x.ResponseHeader)
		}
		if n := x.ResponseHeader.Get("Content-Length"); path != "/same" && n != fmt.Sprint(len(want)) {
			t.Errorf("%s: Content-Length %s, want %d", path, n, len(want))
		}
	}
	if r := b.mem.exchanges[0]; r.ResponseHeader.Get("X-Archive-Orig-Content-Encoding") != "gzip" || r.Truncated != "" ||
		r.Digest.IsZero() {
		t.Errorf("page: %+v", r)
	}
	if b.mem.exchanges[4].Truncated == "" {
		t.Error("a body that was left out is not marked")
	}
}
