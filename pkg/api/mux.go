package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// mux is http.ServeMux with actions: the last segment of a pattern may end in :verb, as in /executions/{ex}:pause. Such
// a pattern is kept as /executions/{ex}/:pause, and paths of requests are turned likewise.
type mux struct {
	inner *http.ServeMux
	verbs map[string]bool
}

func newMux() *mux { return &mux{inner: http.NewServeMux(), verbs: map[string]bool{}} }

// HandleFunc implements humago.Mux.
func (m *mux) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	if at := strings.LastIndexByte(pattern, ':'); at > 0 && !strings.ContainsAny(pattern[at:], "/}") {
		m.verbs[pattern[at+1:]] = true
		pattern = pattern[:at] + "/" + pattern[at:]
	}
	m.inner.HandleFunc(pattern, h)
}

const noAddress = "there is no such address: /api/openapi.yaml lists all there are"

// ServeHTTP implements http.Handler. What is not found, and what has not the method, are problems, too: also a path
// with // or /../ in it, which http.ServeMux would redirect.
func (m *mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	escaped := r.URL.EscapedPath()
	if path.Clean(escaped) != escaped {
		writeProblem(w, r, http.StatusNotFound, noAddress)
		return
	}
	r = m.turned(r)
	if h, pattern := m.inner.Handler(r); pattern == "" {
		m.refuse(w, r, h)
		return
	}
	m.inner.ServeHTTP(w, r)
}

// turned is the request with its action as a segment of its own.
func (m *mux) turned(r *http.Request) *http.Request {
	escaped := r.URL.EscapedPath()
	at := strings.LastIndexByte(escaped, ':')
	if at <= 0 || escaped[at-1] == '/' || !m.verbs[escaped[at+1:]] {
		return r
	}
	plain, err := url.PathUnescape(escaped[:at])
	if err != nil {
		return r
	}
	turned := r.Clone(context.WithoutCancel(r.Context())).WithContext(r.Context())
	turned.URL.Path, turned.URL.RawPath = plain+"/"+escaped[at:], escaped[:at]+"/"+escaped[at:]
	return turned
}

// sorted leads to the API, and all else to the studio; nil: there is none.
func (s *Server) sorted(studio http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case studio == nil || isAPI(r) || r.URL.Path == "/healthz":
			s.mux.ServeHTTP(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			writeProblem(w, r, http.StatusMethodNotAllowed, r.Method+" is not for this address: use GET, HEAD")
		default:
			studio.ServeHTTP(w, r)
		}
	})
}

// refuse answers what no pattern is for. h is what the inner mux would answer: 404, 405 or another form of the path.
func (m *mux) refuse(w http.ResponseWriter, r *http.Request, h http.Handler) {
	asked := &headOnly{header: http.Header{}, status: http.StatusNotFound}
	h.ServeHTTP(asked, r)
	if asked.status == http.StatusMethodNotAllowed {
		allow := asked.header.Get("Allow")
		w.Header().Set("Allow", allow)
		writeProblem(w, r, asked.status, fmt.Sprintf("%s is not for this address: use %s", r.Method, allow))
		return
	}
	writeProblem(w, r, http.StatusNotFound, noAddress)
}

// headOnly takes the head of an answer and drops its body.
type headOnly struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (h *headOnly) Header() http.Header { return h.header }

// Write implements http.ResponseWriter.
func (h *headOnly) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader implements http.ResponseWriter.
func (h *headOnly) WriteHeader(status int) { h.status = status }
