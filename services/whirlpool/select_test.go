package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// board serves job postings as HTML, as JSON and as text, and counts the requests that are under way.
func board(t *testing.T) (home string, most *atomic.Int64) {
	most = new(atomic.Int64)
	var now, failures atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer now.Add(-1)
		for n := now.Add(1); n > most.Load(); {
			most.Store(n)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			for n := range 4 {
				fmt.Fprintf(w, "<a href=/offers/%d>%d</a>", n, n)
			}
			fmt.Fprint(w, "<a href=/api/offers>api</a><a href=/api/broken>broken</a><a href=/down>down</a><a href=/shy>shy</a>")
		case "/api/offers":
			w.Header().Set("Content-Type", "application/vnd.api+json")
			fmt.Fprint(w, `{"data":[{"id":"1","title":"Clerk","pay":{"min":2000}},{"id":"2","title":"Go developer"}]}`)
		case "/api/broken":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"data":[{"id":"1",`)
		case "/down":
			w.WriteHeader(http.StatusBadGateway)
		case "/shy":
			if failures.Add(1) < 3 {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			fmt.Fprint(w, "<p>here after all")
		default:
			for end := time.Now().Add(5 * time.Minute); most.Load() < 2 && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // the second comes, however slow the machine is
			}
			time.Sleep(20 * time.Millisecond) // so that a third would be seen
			fmt.Fprintf(w,
				`<main><article class=offer><h2>Developer %s</h2><b class=pay>%s500 EUR</b><p>We look for a GO  Developer, or one who
				knows C++ and would like to learn. Write to jobs@example.com or boss@example.com.</article></main>`, r.URL.Path, r.URL.Path[8:])
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, most
}

const boardJob = `id: board
parallelism: 2
max_depth: 3
pages_per_level: 100
limits: {max_body: 1MiB}
politeness: {delay: 0s, ip_delay: 0s, host_connections: 8, download_factor: 0}
retry: {max: 3, base: 10ms, on: [timeout, connect, "status:404"]}
near_duplicate: -1
sitemaps: false
allow_private: true
keep_bodies: true
select:
  - {name: offers, match: /offers/, css: .offer, fields: [{name: title, css: h2}, {name: pay, css: .pay, type: number}]}
  - {name: api, json_pointer: /data, fields: [{name: id, json_pointer: /id}, {name: min, json_pointer: /pay/min}]}
  - {name: go, keywords: [go developer, c++], window: 8}
  - {name: mails, regex: '[a-z.]+@example\.com', list: true}
`

// checkBoard checks the records of a crawl of the board.
func checkBoard(t *testing.T, home string, pages map[string]*crawl.Record) {
	t.Helper()
	text := func(s string) map[string]any { return map[string]any{"text": s} }
	want := []crawl.Field{
		{Name: "offers", Value: []any{map[string]any{"title": "Developer /offers/3", "pay": 3500.0}}},
		{Name: "go", Value: []any{map[string]any{"count": 1.0, "keywords": []any{"go developer"},
			"text": "for a GO Developer, or one"},
			map[string]any{"count": 1.0, "keywords": []any{"c++"}, "text": "knows C++ and"}}},
		{Name: "mails", Value: []any{text("jobs@example.com"), text("boss@example.com")}}}
	if r := pages[home+"/offers/3"]; r == nil || !reflect.DeepEqual(r.Fields, want) {
		t.Errorf("an offer is %+v", r)
	}
	wantAPI := []crawl.Field{{Name: "api",
		Value: []any{map[string]any{"id": "1", "min": 2000.0}, map[string]any{"id": "2"}}},
		{Name: "go", Value: []any{map[string]any{"count": 1.0, "keywords": []any{"go developer"},
			"text": "title\":\"Go developer\"}]}"}}}}
	if r := pages[home+"/api/offers"]; r == nil || !reflect.DeepEqual(r.Fields, wantAPI) {
		t.Errorf("the API's answer is %+v", r)
	}
	if r := pages[home+"/api/broken"]; r == nil || len(r.Fields) != 0 {
		t.Errorf("broken JSON is %+v", r)
	}
	if pages[home+"/shy"] == nil || len(pages) != 8 {
		t.Errorf("%d pages, want 8, one of them that answered at the third attempt", len(pages))
	}
}

// Policies, parallelism and the failures that are repeated are those of the job file.
func TestSelectionPolicies(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of waiting")
	}
	home, most := board(t)
	dir, file := filepath.Join(t.TempDir(), "crawl"), write(t, "board.yml", boardJob)
	r := whirlpool(t, "crawl", "-c", file, home+"/", "-o", dir, "--quiet")
	if r.exit != exitOK || !strings.Contains(r.stderr, "note: select api reads JSON") {
		t.Fatalf("exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
	checkBoard(t, home, records(t, dir))
	if n := most.Load(); n != 2 {
		t.Errorf("up to %d requests at once, want 2", n)
	}
	out := must(t, "explain", "-o", dir, home+"/down")
	if !strings.Contains(out, "retry.on does not name it") || strings.Count(out, "502") < 1 {
		t.Errorf("explain: %s", out)
	}
	if out := must(t, "extract", "-c", file, "-o", dir); !strings.Contains(out,
		"8 pages: 0 amended, 8 as the rules have them") {
		t.Errorf("extract: %s", out)
	}
	out = must(t, "export", "-o", dir, "--format", "csv", "--columns", "url,field.offers,field.go")
	if !strings.Contains(out, `"[{""pay"":3500,""title"":""Developer /offers/3""}]"`) {
		t.Errorf("export: %s", out)
	}
	later := write(t, "later.yml", strings.Replace(boardJob, "name: mails", "name: addresses", 1))
	if out := must(t, "extract", "-c", later, "-o", dir); !strings.Contains(out,
		"8 pages: 4 amended, 4 as the rules have them") {
		t.Errorf("extract by a later file: %s", out)
	}
}

// A whole crawl of the made-up web: policies change what records have, and nothing else.
func TestSelectionOverAWholeCrawl(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	plain, with := newTarget(t, nil), newTarget(t, func(j *crawl.Job) {
		j.Parallelism = 3
		j.Select = []crawl.Policy{{Name: "heads", CSS: "h1, h2"},
			{Name: "links", XPath: "//a", Fields: []crawl.PolicyField{{Name: "to", Attr: "href"}}},
			{Name: "words", Keywords: []string{"the", "and"}}, {Name: "numbers", Regex: `\d+`, List: true}}
	})
	must(t, plain.args...)
	must(t, with.args...)
	before, after, objects := records(t, plain.dir), records(t, with.dir), map[string]int{}
	for url := range before {
		r := after[url]
		if r == nil {
			t.Errorf("%s is missing", url)
			continue
		}
		for _, f := range r.Fields {
			objects[f.Name] += len(f.Value.([]any))
		}
	}
	if len(before) != len(after) || len(before) < 50 || objects["heads"] < len(before)/2 ||
		objects["links"] < len(before) || objects["words"] == 0 {
		t.Errorf("%d pages, %d with policies; objects %v", len(before), len(after), objects)
	}
	if r := whirlpool(t, "audit", "-o", with.dir); r.exit != exitOK {
		t.Errorf("audit: exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
}

// A cluster selects what one process does.
func TestSelectionOverACluster(t *testing.T) {
	c := newCluster(t)
	home, _ := board(t)
	c.startNode()
	c.must("seed", "--cluster", "-c", write(t, "board.yml", boardJob), home+"/")
	if r := c.run("status", "--cluster", "--wait"); r.exit != exitOK {
		t.Fatalf("status --wait: exit status %d\n%s%s\nnode:\n%s", r.exit, r.stdout, r.stderr, c.log.String())
	}
	pages := map[string]*crawl.Record{}
	for line := range strings.Lines(c.must("export", "--cluster", "--format", "jsonl")) {
		var r struct {
			URL    string         `json:"url"`
			Fields map[string]any `json:"fields"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rec := &crawl.Record{}
		for _, name := range []string{"offers", "api", "go", "mails"} {
			if v := r.Fields[name]; v != nil {
				rec.Fields = append(rec.Fields, crawl.Field{Name: name, Value: v})
			}
		}
		pages[r.URL] = rec
	}
	checkBoard(t, home, pages)
}
