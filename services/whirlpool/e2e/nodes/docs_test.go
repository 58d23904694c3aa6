package nodes_test

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// site is a site of linked documents, like those that programs come with.
type site struct {
	url   string
	least int // pages that there are at least

	mu    sync.Mutex
	asked map[string]int // requests, by the address they came from
}

// The documents.
const (
	chapters = 8
	sections = 12
)

// serveDocs serves documents until the test ends.
func serveDocs(t *testing.T) *site {
	t.Helper()
	at := docsSite + ":0"
	if errNoSpace != nil {
		at = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp4", at)
	check(t, err)
	s := &site{url: "http://" + l.Addr().String() + "/", asked: map[string]int{}, least: 1 + chapters + chapters*sections}
	var tree fs.FS = documents()
	if dir := os.Getenv("WHIRLPOOL_E2E_DOCS"); dir != "" {
		tree, s.least = os.DirFS(dir), 1
	}
	files := http.FileServerFS(tree)
	srv := &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			from, _, _ := net.SplitHostPort(r.RemoteAddr)
			s.mu.Lock()
			s.asked[from]++
			s.mu.Unlock()
			files.ServeHTTP(w, r)
		})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return s
}

// documents is a tree of pages: contents, chapters, sections, each linked with its neighbours, with relative links of
// all kinds, a style sheet, a link that leads nowhere, and one away from the site.
func documents() fstest.MapFS {
	files := fstest.MapFS{"_static/style.css": {Data: []byte("body{}")}}
	page := func(name, title, body string) {
		files[name] = &fstest.MapFile{Data: []byte("<!DOCTYPE html><html lang=\"en\"><head><title>" + title +
			"</title></head><body><h1>" + title +
			"</h1>" + body + "</body></html>")}
	}
	contents := `<link rel="stylesheet" href="_static/style.css"><a href="missing.html">Glossary</a> <a href="http://nowhere.invalid/">elsewhere</a>`
	for c := range chapters {
		contents += fmt.Sprintf(`<p><a href="chapter-%d/">Chapter %d</a></p>`, c, c)
		list := `<p><a href="../index.html">Contents</a></p>`
		for s := range sections {
			list += fmt.Sprintf(`<li><a href="section-%d.html#top">Section %d.%d</a></li>`, s, c, s)
			text := fmt.Sprintf(`<p><a href="./">Up</a> <a href="section-%d.html?">Next</a> <a href="/chapter-%d/section-%d.html">See also</a></p>`,
				(s+1)%sections, (c+1)%chapters, s)
			for p := range 6 {
				text += fmt.Sprintf("<p>Paragraph %d of section %d in chapter %d explains what the ones before it left open, "+
					"item %d.</p>", p, s, c, 7919*(c*sections+s)+p)
			}
			page(fmt.Sprintf("chapter-%d/section-%d.html", c, s), fmt.Sprintf("Section %d.%d", c, s), text)
		}
		page(fmt.Sprintf("chapter-%d/index.html", c), fmt.Sprintf("Chapter %d", c), "<ul>"+list+"</ul>")
	}
	page("index.html", "Contents", contents)
	return files
}

// job crawls the documents.
func (s *site) job() *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Contact = "docs", []string{s.url}, "e2e@whirlpool.invalid"
	job.MaxPages, job.MaxDepth = 0, -1
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(10*time.Millisecond), 0
	return &job
}
