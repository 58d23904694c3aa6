package renderer

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/htmlscan"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// server answers the requests of one render from the store of resources, and gathers what that lacks.
type server struct {
	h     *Handler
	job   *crawl.Job
	e     *crawl.Render
	asked map[weburl.URL]bool // in the rounds before
	limit int
	last  bool // the job fetches nothing more: nothing is asked for

	mu      sync.Mutex
	missing []weburl.URL // not asked for yet
	fields  map[weburl.URL]string
	gone    int // requests that could not be answered, and never will
	err     error
}

func newServer(h *Handler, job *crawl.Job, e *crawl.Render) *server {
	s := &server{h: h, job: job, e: e, asked: map[weburl.URL]bool{}, fields: map[weburl.URL]string{},
		limit: job.Render.Filled().Resources}
	for _, href := range e.Wants {
		if u, err := weburl.Parse(href); err == nil {
			s.asked[u] = true
		}
	}
	return s
}

// The reasons of requests that fail, as the browser's protocol names them.
const (
	denied  = "AccessDenied"
	refused = "BlockedByClient"
	broken  = "Failed"
)

// serve answers a request of the page.
func (s *server) serve(ctx context.Context, sub render.Sub) render.Answer {
	u, err := weburl.Parse(sub.URL)
	if err != nil {
		return render.Answer{Fail: refused}
	}
	now := time.Now()
	r, found, err := s.h.deps.Resources.Resource(ctx, s.job.ID, u, now)
	if found {
		s.h.polls.note(s.job.ID, u, &r, now)
	}
	switch {
	case err != nil:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = err
		return render.Answer{Stop: true}
	case !found && s.h.polls.has(s.job.ID, u, now):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.gone++
		return render.Answer{Fail: broken}
	case !found:
		s.lacks(u, sub.Header)
		return render.Answer{Fail: broken}
	case r.Refused != "" && r.Status == 0:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.gone++
		return render.Answer{Fail: denied}
	}
	if r.Status >= http.StatusBadRequest && sub.Type != "XHR" && sub.Type != "Fetch" {
		r.Body = nil // only programs read errors; what one shows in a frame is no part of the page
	}
	return render.Answer{Status: r.Status, Header: http.Header(r.Header), Body: r.Body}
}

// lacks notes that a resource is not in the store.
func (s *server) lacks(u weburl.URL, header map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last || s.asked[u] || s.e.Round >= maxRounds || len(s.asked) >= s.limit {
		s.gone++
		return
	}
	s.asked[u] = true
	s.missing = append(s.missing, u)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(header)) {
		lines = append(lines, name+": "+header[name])
	}
	s.fields[u] = strings.Join(lines, "\n")
}

func (s *server) fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// missingNow is how many requests could not be answered.
func (s *server) missingNow() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// wantScripts looks for the scripts of the page in the store: without them no render makes sense.
func (s *server) wantScripts(ctx context.Context, html []byte) error {
	for _, u := range scriptsOf(s.e.Page.Task.URL, html, s.limit) {
		_, found, err := s.h.deps.Resources.Resource(ctx, s.job.ID, u, time.Now())
		if err != nil {
			return err
		}
		if !found {
			s.lacks(u, nil)
		}
	}
	return nil
}

// again asks for what was missing, and for another round of the page; nil: nothing was.
func (s *server) again() []crawl.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.missing) == 0 {
		return nil
	}
	next := *s.e
	next.Round++
	next.Until = time.Now().Add(patience).UTC()
	next.Wants = append([]string{}, s.e.Wants...)
	want := &crawl.Links{Task: s.e.Page.Task}
	want.Task.Tracked, want.Task.Repeat = false, false
	for _, u := range s.missing {
		next.Wants = append(next.Wants, u.String())
		want.Links = append(want.Links, crawl.Link{URL: u, Tag: crawl.TagResource, Fields: s.fields[u]})
	}
	return []crawl.Event{want, &next}
}

// scriptsOf are the scripts that a page names in its HTML and a browser loads, at most n.
func scriptsOf(page weburl.URL, html []byte, n int) (out []weburl.URL) {
	base := page
	var s htmlscan.Scanner
	s.Reset(html)
	for k := s.Next(); k != htmlscan.End && len(out) < n; k = s.Next() {
		if k != htmlscan.StartTag {
			continue
		}
		href := ""
		switch strings.ToLower(string(s.Name())) {
		case "base":
			if u, err := page.Resolve(attr(&s, "href")); err == nil && attr(&s, "href") != "" {
				base = u
			}
			continue
		case "script":
			if kind := attr(&s, "type"); kind == "module" || (kind == "" || strings.HasSuffix(kind, "javascript")) &&
				!has(&s, "nomodule") { // those are for browsers that know no modules
				href = attr(&s, "src")
			}
		case "link":
			rel := strings.ToLower(attr(&s, "rel"))
			if rel == "modulepreload" || rel == "preload" && attr(&s, "as") == "script" {
				href = attr(&s, "href")
			}
		}
		if href == "" || strings.HasPrefix(href, "data:") {
			continue
		}
		if u, err := base.Resolve(href); err == nil {
			out = append(out, u)
		}
	}
	return out
}

// attr is the value of an attribute of the tag that was read last.
func attr(s *htmlscan.Scanner, name string) string {
	for i := range s.Attrs() {
		if a, v := s.Attr(i); string(a) == name {
			return strings.TrimSpace(string(htmlscan.Value(v)))
		}
	}
	return ""
}

// has reports whether the tag that was read last has an attribute, with a value or without.
func has(s *htmlscan.Scanner, name string) bool {
	for i := range s.Attrs() {
		if a, _ := s.Attr(i); string(a) == name {
			return true
		}
	}
	return false
}

// unpack decompresses a page.
func unpack(html []byte) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(html)), crawl.MaxRendered))
	if err != nil {
		return nil, fmt.Errorf("the page's HTML is damaged: %w", err)
	}
	return out, nil
}
