package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An image that is a page is left out where the job does not want that page, by the rule that says so. When a wider
// rule wants it, it is fetched as a page.
func TestAnAssetThatIsAPageIsLetInByAWiderRule(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of waiting")
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			_, _ = w.Write([]byte(`<title>Home</title><a href=/in/a>a</a><img src=/out/shown>`))
		case "/in/a", "/out/shown":
			_, _ = w.Write([]byte("<title>" + r.URL.Path + "</title><p>words"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	dir := filepath.Join(t.TempDir(), "crawl")
	crawl := func(include ...string) string {
		t.Helper()
		args := []string{"crawl", site.URL + "/", "--allow-private", "--delay", "0s", "--warc", "--assets", "-o", dir}
		for _, i := range include {
			args = append(args, "--include", i)
		}
		if r := whirlpool(t, args...); r.exit != exitOK {
			t.Fatalf("exit status %d\n%s%s", r.exit, r.stdout, r.stderr)
		}
		if r := whirlpool(t, "audit", "-o", dir); r.exit != exitOK {
			t.Errorf("audit: exit status %d\n%s%s", r.exit, r.stdout, r.stderr)
		}
		pages, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return string(pages)
	}
	record := func(path string) string { return `{"url":"` + site.URL + path + `"` }
	if pages := crawl("/in/"); strings.Contains(pages, record("/out/shown")) || !strings.Contains(pages, record("/in/a")) {
		t.Errorf("pages of the narrow crawl: %s", pages)
	}
	if r := whirlpool(t, "explain", "-o", dir, site.URL+"/out/shown"); !strings.Contains(r.stdout, "include") {
		t.Errorf("explain: %s%s", r.stdout, r.stderr)
	}
	if pages := crawl("/in/", "/out/"); !strings.Contains(pages, record("/out/shown")) {
		r := whirlpool(t, "explain", "-o", dir, site.URL+"/out/shown")
		t.Errorf("pages of the wider crawl: %s\n%s", pages, r.stdout)
	}
}
