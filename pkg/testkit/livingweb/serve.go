package livingweb

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Server serves a web on loopback, or at Config.At, each host at a port of its own.
type Server struct {
	*Web
	servers []*http.Server
	hosts   []string
	byHost  []map[string]*page
}

// Serve serves a web until Close.
func Serve(w *Web) (*Server, error) {
	s := &Server{Web: w}
	for range w.cfg.Hosts {
		s.byHost = append(s.byHost, map[string]*page{})
	}
	for _, p := range w.pages {
		s.byHost[p.host][p.path] = p
	}
	for h := range w.cfg.Hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(w.cfg.At, "127.0.0.1"), "0")) //nolint:noctx // it does not wait
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		srv := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { s.answer(rw, r, h) }),
			ReadHeaderTimeout: time.Minute}
		s.servers, s.hosts = append(s.servers, srv), append(s.hosts, "http://"+l.Addr().String())
		go func() { _ = srv.Serve(l) }()
	}
	return s, nil
}

// Close ends it.
func (s *Server) Close() error {
	var errs []error
	for _, srv := range s.servers {
		errs = append(errs, srv.Close())
	}
	return errors.Join(errs...)
}

// Seeds are the home pages.
func (s *Server) Seeds() (seeds []string) {
	for _, h := range s.hosts {
		seeds = append(seeds, h+"/")
	}
	return seeds
}

// URLs are those of all pages, home pages among them.
func (s *Server) URLs() (urls []string) {
	for _, p := range s.pages {
		urls = append(urls, s.hosts[p.host]+p.path)
	}
	return urls
}

func (s *Server) answer(rw http.ResponseWriter, r *http.Request, host int) {
	switch {
	case r.URL.Path == "/robots.txt":
		s.robots(rw, host)
		return
	case r.URL.Path == listPath && s.cfg.Lists:
		s.list(rw, host)
		return
	}
	path, moved := strings.CutPrefix(r.URL.Path, movedPrefix)
	p := s.byHost[host][path]
	if p == nil {
		http.NotFound(rw, r)
		return
	}
	day := s.now()
	s.mu.Lock()
	s.total++
	status, noIndex, changed := p.status, p.noIndex, p.changed(day)
	s.mu.Unlock()
	if moved != (status == http.StatusMovedPermanently) || status >= 400 {
		refuse(rw, p, status)
		return
	}
	if status == http.StatusOK {
		s.sayNotFound(rw, p, day)
		return
	}
	if s.cfg.Dated {
		rw.Header().Set("Last-Modified", s.at(changed).Format(http.TimeFormat))
	}
	version := p.version(day)
	tag := fmt.Sprintf(`"%d-%v"`, version, noIndex)
	rw.Header().Set("Etag", tag)
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	if r.Header.Get("If-None-Match") == tag {
		rw.WriteHeader(http.StatusNotModified)
	} else {
		_, _ = rw.Write(s.body(p, host, version, noIndex))
	}
	s.fetched(p, day)
}

func (s *Server) sayNotFound(rw http.ResponseWriter, p *page, day float64) {
	_, _ = rw.Write([]byte("<!doctype html><title>Not found</title><p>There is no such page here."))
	s.fetched(p, day)
}

func (s *Server) fetched(p *page, day float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.fetches = append(p.fetches, day)
}

func (s *Server) body(p *page, host, version int, noIndex bool) []byte {
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=en><head><title>" + p.path[1:] + "</title>")
	if noIndex {
		b.WriteString(`<meta name="robots" content="noindex">`)
	}
	b.WriteString("</head><body><main><p>" + p.text(version) + "</p></main>")
	if p.path == "/" {
		for path := range s.byHost[host] {
			if path != "/" {
				fmt.Fprintf(&b, `<a href="%s">%s</a> `, path, path[1:])
			}
		}
	}
	b.WriteString("</body></html>")
	return []byte(b.String())
}
