// Package appweb serves a small application whose pages only scripts make, beside plain pages, and notes each request:
// what a crawl that renders pages must find, whatever is killed meanwhile, and what nobody may ask for.
package appweb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Sites of the web. Each has a port, and so is a host of its own.
const (
	App   = "app"   // the application
	Plain = "plain" // pages that are whole as they are
)

// PlainPages is how many plain pages there are, each with links to all others.
const PlainPages = 50

// Web serves the sites. It notes each request.
type Web struct {
	pages int // of the application, its start page included
	hosts map[string]string
	close []func() error

	mu  sync.Mutex
	log []call
}

// call is one request.
type call struct {
	site, method, uri, agent string
	began, ended             time.Time
}

// Serve serves an application of so many pages at an address of this machine, until Close is called.
func Serve(ctx context.Context, address string, pages int) (*Web, error) {
	w := &Web{pages: pages, hosts: map[string]string{}}
	for _, site := range []string{App, Plain} {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort(address, "0"))
		if err != nil {
			return nil, errors.Join(err, w.Close())
		}
		w.hosts[site] = l.Addr().String()
		srv := &http.Server{ReadHeaderTimeout: time.Minute,
			Handler: http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) { w.serve(to, r, site) })}
		w.close = append(w.close, srv.Close)
		go func() { _ = srv.Serve(l) }()
	}
	return w, nil
}

// Close ends the servers.
func (w *Web) Close() (err error) {
	for _, c := range w.close {
		err = errors.Join(err, c())
	}
	return err
}

// URL returns the address of a path of a site.
func (w *Web) URL(site, path string) string { return "http://" + w.hosts[site] + path }

func (w *Web) serve(to http.ResponseWriter, r *http.Request, site string) {
	c := call{site: site, method: r.Method, uri: r.URL.RequestURI(), agent: r.UserAgent(), began: time.Now()}
	if kind, body := w.answer(site, r); body == "" {
		http.NotFound(to, r)
	} else {
		to.Header().Set("Content-Type", kind)
		_, _ = to.Write([]byte(body)) // the client may have gone
	}
	c.ended = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, c)
}

func (w *Web) answer(site string, r *http.Request) (kind, body string) {
	path := r.URL.Path
	switch {
	case path == "/robots.txt":
		return "text/plain", "User-agent: *\nDisallow: /private/\n"
	case site == Plain && path == "/stats.js":
		return "text/javascript", "window.counted = 1"
	case site == Plain && strings.HasPrefix(path, "/p/"):
		return "text/html", plain(path)
	case site == Plain:
		return "", ""
	case path == "/app.js":
		return "text/javascript", script
	case path == "/chunk-1a2b3c4d.js":
		return "text/javascript", chunk
	case path == "/api/list":
		return "application/json", w.list(r.URL.Query().Get("of"))
	case path == "/" || strings.HasPrefix(path, "/item/") || path == "/late/1":
		return "text/html",
			`<!doctype html><title>The app</title><div id="root"></div><script type="module" src="/app.js"></script>`
	}
	return "", ""
}

// list is what the application asks for: a tree of pages, so that each is found by the render of another only.
func (w *Web) list(of string) string {
	var items []string
	at, _ := strconv.Atoi(strings.TrimPrefix(of, "/item/")) // else 0: the start page
	for n := 3*at + 1; n <= 3*at+3 && n < w.pages-1; n++ {
		items = append(items, strconv.Itoa(n))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func plain(path string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html><title>Plain %s</title><script src=/stats.js></script><div id=root></div><p>%s</p>",
		path, strings.Repeat("Words about "+path+" that stand in the page itself. ", 12))
	for i := range PlainPages {
		fmt.Fprintf(&b, "<a href=/p/%d>%d</a> ", i, i)
	}
	return b.String()
}

// Steps is how far the application was crawled, of StepsOf all its pages: two for each page, which is fetched, and asks
// for its list when it is rendered. What is asked for again is no step. A crawl that renders all pages makes them all.
func (w *Web) Steps() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := map[string]bool{}
	for _, c := range w.log {
		if c.site == App && (c.uri == "/" || strings.HasPrefix(c.uri, "/item/") || c.uri == "/late/1" ||
			strings.HasPrefix(c.uri, "/api/list?")) {
			asked[c.uri] = true
		}
	}
	return len(asked)
}

// StepsOf is how many steps a whole crawl of an application of so many pages makes.
func StepsOf(pages int) int { return 2 * pages }

// Faults are requests that nobody may make: not by an agent whose name begins so, forbidden by robots.txt, not a GET,
// or too soon after the one before to the same site. A delay of 0 allows any pace.
func (w *Web) Faults(agents string, delay time.Duration) (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := map[string]call{}
	for _, c := range slices.SortedFunc(slices.Values(w.log), func(a, b call) int { return a.began.Compare(b.began) }) {
		before, again := last[c.site]
		switch gap := c.began.Sub(before.ended); {
		case c.method != http.MethodGet:
			out = append(out, c.method+" "+c.uri)
		case !strings.HasPrefix(c.agent, agents):
			out = append(out, c.uri+" by "+c.agent)
		case strings.HasPrefix(c.uri, "/private/"):
			out = append(out, "forbidden: "+c.uri)
		case again && gap < delay-10*time.Millisecond && before.agent == c.agent:
			out = append(out, fmt.Sprintf("too soon by %v: %s after %s", delay-gap, c.uri, before.uri))
		}
		last[c.site] = c
	}
	return out
}

// Job crawls both sites, and renders where that pays.
func (w *Web) Job(delay time.Duration) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.UserAgent, job.Scope = "app", "whirlpool-e2e", crawl.ScopeHost
	job.Seeds, job.MaxPages, job.NearDuplicate = []string{w.URL(App, "/"), w.URL(Plain, "/p/0")}, 0, -1
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(delay), 0
	job.Render.Mode = crawl.RenderAuto
	return &job
}
