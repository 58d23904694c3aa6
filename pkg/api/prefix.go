package api

import (
	"net/http"
	"net/url"
	"strings"
)

// prefix is the path under which browsers reach the server, such as /crawler; empty: it has the whole name.
func (a *Access) prefix() string {
	u, err := url.Parse(a.URL)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.EscapedPath(), "/")
}

// prefixed takes the prefix off the paths of requests. Some proxies take it off themselves, others leave it: both work.
func (s *Server) prefixed(next http.Handler) http.Handler {
	prefix := s.Access.prefix()
	if prefix == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		escaped := r.URL.EscapedPath()
		rest, under := strings.CutPrefix(escaped, prefix)
		switch {
		case under && rest == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			// The addresses in the studio's page are relative: they need the slash.
			http.Redirect(w, r, prefix+"/", http.StatusPermanentRedirect)
			return
		case under && strings.HasPrefix(rest, "/"):
			if plain, err := url.PathUnescape(rest); err == nil {
				u := *r.URL
				u.Path, u.RawPath = plain, rest
				r = r.WithContext(r.Context())
				r.URL = &u
			}
		}
		next.ServeHTTP(w, r)
	})
}
