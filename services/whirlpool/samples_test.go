package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

const samples = "../../deploy/samples"

func TestEverySampleJobIsValid(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(samples, "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("samples %q, %v", files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "node.yml" {
			continue // a node's configuration; pkg/process tests it
		}
		job, err := jobfile.Load(file)
		if err == nil {
			err = checkJob(&job)
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// jobBoards serves testdata/jobboard as an HTTP proxy: whatever host is asked for is a directory there.
func jobBoards(t *testing.T) (proxy string, asked func() map[string]int) {
	var mu sync.Mutex
	count := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		count[r.Host+r.URL.RequestURI()]++
		mu.Unlock()
		http.FileServer(http.Dir(filepath.Join("testdata/jobboard", filepath.Base(r.Host)))).ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return count
	}
}

func TestJobPostingSampleExtractsItsFields(t *testing.T) {
	proxy, asked := jobBoards(t)
	dir := filepath.Join(t.TempDir(), "jobs")
	must(t, "crawl", "-c", absolute(t, filepath.Join(samples, "jobs.yml")), "-o", dir, "--proxy", proxy, "--delay", "0s",
		"--no-sitemaps", "--quiet", "http://jobs.example.com/", "http://careers.example.org/openings/")
	pages := records(t, dir)
	for url, want := range map[string][]crawl.Field{
		"http://jobs.example.com/jobs/101.html": {
			{Name: "url", Value: "http://jobs.example.com/jobs/101.html"}, {Name: "domain", Value: "jobs.example.com"},
			{Name: "title", Value: "Storage engineer"}, {Name: "company", Value: "Brackwater Systems"},
			{Name: "location", Value: "Leiden"},
			{Name: "description", Value: "You make writes durable and reads quick, and prove both."},
			{Name: "skills", Value: []any{"Go", "LSM trees", "Patience with disks"}}, {Name: "estimate", Value: 72500.0},
			{Name: "emp_type", Value: "full-time"}, {Name: "job_posting_date", Value: "2026-10-05T00:00:00Z"},
			{Name: "misc", Value: []any{"two days a week", "R-101"}},
		},
		"http://jobs.example.com/jobs/103.html": { // no number in its salary: no estimate
			{Name: "url", Value: "http://jobs.example.com/jobs/103.html"}, {Name: "domain", Value: "jobs.example.com"},
			{Name: "title", Value: "Night baker"}, {Name: "company", Value: "Korst"}, {Name: "location", Value: "Gouda"},
			{Name: "description", Value: "You bake what the town eats for breakfast."},
			{Name: "skills", Value: []any{"Sourdough"}}, {Name: "emp_type", Value: "part-time"},
			{Name: "job_posting_date", Value: "2026-08-14T00:00:00Z"}, {Name: "misc", Value: []any{"no", "R-103"}},
		},
		"http://careers.example.org/openings/cartographer.html": {
			{Name: "url", Value: "http://careers.example.org/openings/cartographer.html"},
			{Name: "domain", Value: "careers.example.org"}, {Name: "title", Value: "Cartographer"},
			{Name: "company", Value: "Meridian Institute"}, {Name: "location", Value: "Greenwich"},
			{Name: "description", Value: "Draw the parts of the map that others leave white."},
			{Name: "skills", Value: []any{"A steady hand", "Projections"}}, {Name: "estimate", Value: 48000.0},
			{Name: "emp_type", Value: "permanent"}, {Name: "job_posting_date", Value: "2026-11-02T00:00:00Z"},
			{Name: "misc", Value: []any{"Bicycle provided.", "Tea, too."}},
		},
	} {
		if r := pages[url]; r == nil || !reflect.DeepEqual(r.Fields, want) {
			t.Errorf("%s is stored as %+v\nwant fields %+v", url, r, want)
		}
	}
	checkListing(t, pages["http://jobs.example.com/"])
	for url := range asked() {
		if strings.Contains(url, "login") || strings.Contains(url, "apply") || strings.Contains(url, "internal") ||
			strings.Contains(url, "sort=") || strings.HasPrefix(url, "partner.") {
			t.Errorf("%s was asked for", url)
		}
	}
}

// checkListing checks the weights that the rules give the links of a listing.
func checkListing(t *testing.T, listing *crawl.Record) {
	t.Helper()
	if listing == nil {
		t.Fatal("the listing is not stored")
	}
	if len(listing.Fields) > 0 {
		t.Errorf("a listing has fields: %+v", listing.Fields)
	}
	weights := map[string]int{}
	for _, l := range listing.Links {
		weights[l.URL.RequestURI()] = l.Weight
	}
	for uri, want := range map[string]int{"/jobs/?page=2": 8, "/jobs/101.html": 5, "/about.html": 1} {
		if weights[uri] != want {
			t.Errorf("the link to %s weighs %d, want %d", uri, weights[uri], want)
		}
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// records reads pages.jsonl by URL.
func records(t *testing.T, dir string) map[string]*crawl.Record {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]*crawl.Record{}
	err = jsonl.EachRecord(bytes.NewReader(data), func(r *crawl.Record) error {
		pages[r.URL.String()] = r
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}
