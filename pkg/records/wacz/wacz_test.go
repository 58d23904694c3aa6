package wacz

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wacztest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestSURT(t *testing.T) {
	for href, want := range map[string]string{
		"http://example.com/":                     "com,example)/",
		"https://www2.Example.com:8080/A/b?z=1&a": "com,example:8080)/a/b?a&z=1",
		"http://127.0.0.1:80/x":                   "1,0,0,127)/x",
		"http://a.test/%C3%BC":                    "test,a)/%c3%bc",
		"http://[::1]:81/":                        "[::1]:81)/",
	} {
		if got := surt(href); got != want {
			t.Errorf("%s: %s, want %s", href, got, want)
		}
	}
}

// Lines are sorted whether they fit into memory or not.
func TestLinesAreSorted(t *testing.T) {
	for _, limit := range []int{1 << 30, 200} {
		s := newLineSorter(t.TempDir())
		s.limit = limit
		var want []string
		for range 500 {
			line := fmt.Sprint(rand.IntN(300))
			want = append(want, line)
			if err := s.add(line); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(want)
		var got []string
		if err := s.each(func(line string) error { got = append(got, line); return nil }); err != nil ||
			!slices.Equal(got, want) {
			t.Errorf("limit %d, %d runs: %v, %d lines", limit, len(s.runs), err, len(got))
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

func archive(t *testing.T, dir string, n int) {
	t.Helper()
	w, err := warc.Open(dir, warc.Options{MaxSize: 200_000, Host: "same"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		x := &crawl.Exchange{URL: pageURL(t, i), Started: time.Unix(int64(1e9+i), 0), Method: "GET", Proto: "HTTP/1.1",
			Status: "200 OK", ResponseHeader: http.Header{"Content-Type": {"text/html"}},
			Body: fmt.Appendf(nil, "<title>%d</title>%0600d", i, i%50)}
		if err := w.Write(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func pageURL(t *testing.T, i int) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(fmt.Sprintf("http://h%d.test/page?n=%d", i%7, i))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A package of many captures, in files of two machines that call themselves the same, is what the specification asks.
func TestWrite(t *testing.T) {
	const n = 3_500 // more than a block of the index
	dirs := []string{t.TempDir(), t.TempDir()}
	archive(t, dirs[0], n)
	archive(t, dirs[1], 20)
	pages := func(yield func(Page, error) bool) {
		for i := range 100 {
			if !yield(Page{URL: pageURL(t, i), At: time.Unix(int64(1e9+i), 0), Title: "<a> & ü"}, nil) {
				return
			}
		}
	}
	file := filepath.Join(t.TempDir(), "x.wacz")
	s, err := Write(t.Context(), Options{Archives: dirs, File: file, Title: "t", Pages: pages,
		Seeds: []weburl.URL{pageURL(t, 42)}})
	if err != nil {
		t.Fatal(err)
	}
	got := wacztest.Check(t, file)
	if len(got.Captures) != n+20 || s.Captures != n+20 || len(got.Pages) != 100 ||
		got.MainPage != pageURL(t, 42).String() {
		t.Errorf("%d captures, %d pages, main page %s: %+v", len(got.Captures), len(got.Pages), got.MainPage, s)
	}
	left, _ := os.ReadDir(filepath.Dir(file))
	if len(left) != 1 {
		t.Errorf("it left %v", left)
	}
}

// What cannot be written whole is not there.
func TestFailures(t *testing.T) {
	none := func(func(Page, error) bool) {}
	for name, opt := range map[string]Options{
		"no archive": {Archives: []string{t.TempDir()}, File: filepath.Join(t.TempDir(), "x.wacz"), Pages: none},
		"other name": {Archives: []string{t.TempDir()}, File: filepath.Join(t.TempDir(), "x.zip"), Pages: none},
	} {
		if _, err := Write(t.Context(), opt); err == nil {
			t.Errorf("%s: no error", name)
		}
		if left, _ := os.ReadDir(filepath.Dir(opt.File)); len(left) > 0 {
			t.Errorf("%s: it left %v", name, left)
		}
	}
}
