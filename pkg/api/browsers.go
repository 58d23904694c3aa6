package api

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/studio"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// wrap puts around a handler what each request has to pass.
func (s *Server) wrap(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, r, http.StatusForbidden,
			"the request comes from a page of another site: open the studio itself, or use an API key without a browser")
	}))
	inner := s.identified(s.limited(s.answers.wrap(next)))
	checked := s.host(origins.Handler(media(inner)))
	return s.headed(s.audited(s.survive(checked)))
}

// headed gives each request its id and each answer the headers that browsers obey.
func (s *Server) headed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := newRequestID(r.Header.Get("X-Request-Id"))
		h := w.Header()
		h.Set("X-Request-Id", id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", studio.Policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if s.Access.Secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if isAPI(r) {
			h.Set("Cache-Control", "no-store")
			r.Header.Set("Accept", "application/json") // there is no other
		}
		ctx := context.WithValue(r.Context(), keyRequestID, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, keyURL, r.URL)))
	})
}

func isAPI(r *http.Request) bool {
	return r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/")
}

// survive answers a request whose handler panicked. Aborted answers stay so.
func (s *Server) survive(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { //nolint:contextcheck // the request has its own
			fault := recover()
			if fault == nil {
				return
			}
			if err, is := fault.(error); is && err == http.ErrAbortHandler { //nolint:errorlint // it is never wrapped
				panic(fault)
			}
			if err, is := fault.(error); is && unread(r.Context(), err) {
				panic(http.ErrAbortHandler) // Huma panics where an answer cannot be written
			}
			s.log.Error("a handler panicked", "request", requestID(r.Context()), "path", r.URL.Path, "panic", fmt.Sprint(fault),
				"stack", string(debug.Stack()))
			writeProblem(w, r, http.StatusInternalServerError, "")
		}()
		next.ServeHTTP(w, r)
	})
}

// unread reports whether an answer was not written because whoever asked has gone, or does not read.
func unread(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) || system.Unread(err) ||
		system.Reset(err)
}

// host refuses requests for names that are not ours: a page of another site may have a name that leads here.
func (s *Server) host(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(s.Access.Hosts, strings.ToLower(r.Host)) {
			writeProblem(w, r, http.StatusForbidden,
				"the server does not answer for this name: use its own address, or name this one with --host")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// media refuses bodies that are no JSON. A form of another site could send none that is.
func media(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(r) && r.ContentLength != 0 && r.Method != http.MethodGet && r.Method != http.MethodHead {
			kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
			if err != nil || kind != "application/json" {
				writeProblem(w, r, http.StatusUnsupportedMediaType, "the body has to be JSON: send Content-Type: application/json")
				return
			}
			r.Header.Set("Content-Type", "application/json")
		}
		next.ServeHTTP(w, r)
	})
}

// identified notes who a request is from.
func (s *Server) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isAPI(r) {
			next.ServeHTTP(w, r)
			return
		}
		who, err := s.guard.identify(r)
		if err != nil {
			s.log.Warn("a request was not identified", "request", requestID(r.Context()), "error", err)
			writeProblem(w, r, http.StatusBadRequest,
				"session and key cannot be used together, or could not be read: sign in again, or send a key alone")
			return
		}
		noteWho(r.Context(), who)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), keyIdentity, who)))
	})
}
