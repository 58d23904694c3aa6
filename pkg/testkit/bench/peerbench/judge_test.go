package peerbench

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

func TestJudge(t *testing.T) {
	e := func(host, path string, start, end int64, status int) fakeweb.Entry {
		return fakeweb.Entry{Host: host, Path: path, Method: http.MethodGet, Start: start, End: end, Status: status}
	}
	cut := e("a.test", "/cut", 60, 70, 200)
	cut.Cut = true
	log := []fakeweb.Entry{
		e("a.test", "/robots.txt", 0, 10, 200),
		e("a.test", "/one", 10, 20, 200), // begins when the one before ends: not at once
		e("a.test", "/two", 15, 30, 200),
		e("a.test", "/one", 18, 40, 200),
		e("b.test", "/one", 18, 40, 200), // another host
		e("a.test", "/secret", 50, 60, 200),
		e("a.test", "/gone", 50, 60, 404),
		cut,
	}
	wanted := map[string]bool{"a.test/one": true, "a.test/two": true, "b.test/one": true, "a.test/cut": true,
		"a.test/gone": true}
	got := judge(log, wanted, func(_, path string) bool { return path != "/secret" })
	want := Verdict{Pages: 3, Missed: 2, Again: 1, Forbidden: 1, Requests: 8, AtOnce: 3, Took: 40,
		Lost: []string{"a.test/cut", "a.test/gone"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestWhatOthersFoundIsMissed(t *testing.T) {
	r := Row{urls: map[string]bool{"/a.html": true}}
	r.compare(map[string]bool{"/a.html": true, "/b.html": true, "/": true})
	if r.Missed != 2 || r.Lost[1] != fileHost+"/b.html" {
		t.Errorf("missed %v", r.Lost)
	}
	if isPage("/style.css", nil, "") || !isPage("/a.html?x=1", nil, "") || !isPage("/", nil, "") {
		t.Error("what is a page by its name")
	}
}

// TestWebsTellWhatTheyServe: the names of the hosts are written, a page is served, and its request is logged.
func TestWebsTellWhatTheyServe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<a href=x.html>x</a>"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := filepath.Join(dir, "hosts")
	for name, w := range map[string]web{"synthetic": synthetic{fakeweb.Plain(2, 20), names},
		"files": files{dir, names, "index.html"}} {
		t.Run(name, func(t *testing.T) {
			at, err := w.serve(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer at.close()
			list, err := os.ReadFile(names)
			if err != nil || len(list) < 30 || len(at.task.Hosts) == 0 {
				t.Fatalf("names %q, hosts %v, %v", list, at.task.Hosts, err)
			}
			if (name == "synthetic") != (len(at.wanted) > 0) {
				t.Errorf("%d pages must be found", len(at.wanted))
			}
		})
	}
}

func TestACrawlerThatDoesNotEndIsEnded(t *testing.T) {
	var r Row
	// A busy machine may end it before it has begun.
	for limit := 50 * time.Millisecond; r.RSS < 100<<10 && limit < time.Minute; limit *= 4 {
		r = Row{}
		if err := r.run(t.Context(), []string{"sleep", "1000"}, t.TempDir(), limit); err != nil || r.Fault == "" {
			t.Fatalf("fault %q, %v", r.Fault, err)
		}
	}
	if r.RSS < 100<<10 || r.RSS > 20e6 {
		t.Errorf("sleep has %d bytes, which are not this test's", r.RSS)
	}
	if err := r.run(t.Context(), []string{"/no/such/program"}, t.TempDir(), time.Minute); err == nil {
		t.Error("a program that is not there is no error")
	}
}
