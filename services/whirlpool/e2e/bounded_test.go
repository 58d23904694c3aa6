package e2e_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The hosts of the memory test: how many, how many pages each, and how large those are.
const (
	fatHosts = 10
	fatPages = 4
	fatBytes = 10 << 20
)

// Promise 4: nothing in memory grows with the crawl. A host without end and pages of 10 MB, half of them text and half
// of them links, all asked for at once, stay below the bound.
func TestMemoryIsBounded(t *testing.T) {
	long(t)
	cfg := variedWeb(200)
	cfg.TrapHosts, cfg.Unavailable = 1, 0
	srv := serve(t, cfg, 0)
	fat := httptest.NewServer(fatSite())
	defer fat.Close()
	u, err := url.Parse(fat.URL)
	if err != nil {
		t.Fatal(err)
	}
	job := jobFor(srv)
	job.Scope, job.Sitemaps, job.PagesPerHost = crawl.ScopeHost, false, 3000
	job.Seeds = srv.Web().Specials()["trap"]
	for i := range fatHosts {
		job.Seeds = append(job.Seeds, fmt.Sprintf("http://host-%d.fat.test:%s/0", i, u.Port()))
	}
	names := nameServer(t, map[string]string{"fat.test.": "127.0.0.1"}, srv.DNSAddr())
	c := newCrawler(t, srv, job, "--concurrency", "256", "--dns", names)
	p := c.start(t)
	peak := peakMemory(p)
	p.wait(t)
	got := readResults(t, c.dir)
	large := 0
	for u := range got.Pages {
		if strings.Contains(u, ".fat.test") {
			large++
		}
	}
	t.Logf("%d pages stored, %d of them of 10 MB, %d outcomes: at most %d MB", len(got.Pages), large, len(got.Outcomes),
		peak>>20)
	if large != fatHosts*fatPages || len(got.Pages) < 1000 {
		t.Errorf("%d pages of 10 MB, want %d; %d pages in all, want 1000 and more", large, fatHosts*fatPages, len(got.Pages))
	}
	within(t, "the crawl", peak, fatBound)
}

// fatBound is what the crawl of the large pages may hold. Runs differ by when the heap is collected: 234 to 308 MB in
// 12 runs. The pages alone have 400 MB, and their text and links as much again.
const fatBound = 360 << 20

// fatSite serves pages /0, /1 … that each link to the next; every other consists of links.
func fatSite() http.HandlerFunc {
	text := make([]byte, 0, fatBytes)
	random := rand.New(rand.NewPCG(1, 2))
	for len(text) < fatBytes-1000 {
		text = append(text, "<p>"...)
		for range 100 {
			text = append(strconv.AppendUint(text, random.Uint64N(1e9), 36), ' ')
		}
	}
	links := new(bytes.Buffer)
	for i := 0; links.Len() < fatBytes-1000; i++ {
		fmt.Fprintf(links, "<a href=\"http://elsewhere-%d.test/page?number=%d\">link</a>\n", i, i)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil || n >= fatPages {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<html><title>%s%s</title><a href=\"/%d\">next</a>", r.Host, r.URL.Path, n+1)
		body := text
		if n%2 == 1 {
			body = links.Bytes()
		}
		_, _ = w.Write(body) // the crawler may have had enough
	}
}
