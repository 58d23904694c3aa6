package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// answers keeps what was answered to requests with an Idempotency-Key, so that one sent again does nothing twice.
type answers struct {
	s    *Server
	mu   sync.Mutex
	busy map[string]bool // being answered
}

const (
	sectionAnswers = "api.answers"
	answerTime     = 24 * time.Hour
	maxAnswer      = 1 << 20
)

// answer is a stored one.
type answer struct {
	Request string      `json:"request"` // hash of method, path and body
	Status  int         `json:"status"`
	Header  http.Header `json:"header"`
	Body    []byte      `json:"body"`
}

func newAnswers(s *Server) *answers { return &answers{s: s, busy: map[string]bool{}} }

// wrap answers a POST that was answered before as it was then. A key is one actor's.
func (a *answers) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, who := r.Header.Get("Idempotency-Key"), identityOf(r.Context())
		if given == "" || r.Method != http.MethodPost || who.Role < Viewer || secretly(r.URL.Path) || r.URL.Path == dryRunPath {
			next.ServeHTTP(w, r)
			return
		}
		if len(given) > 200 {
			writeProblem(w, r, http.StatusBadRequest, "Idempotency-Key is longer than 200 characters: use a UUID")
			return
		}
		content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			writeProblem(w, r, http.StatusRequestEntityTooLarge, "")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(content))
		a.serve(w, r, next, hashOf(who.Actor+"\x00"+given), requestHash(r, content))
	})
}

// secretly reports whether an answer has a secret in it, which is not stored.
func secretly(path string) bool {
	return strings.HasPrefix(path, base+"/api-keys") || path == base+"/login-urls" || strings.HasPrefix(path, base+"/auth/")
}

func requestHash(r *http.Request, content []byte) string {
	h := sha256.New()
	_, _ = io.WriteString(h, r.Method+" "+r.URL.RequestURI()+"\n") // a hash takes everything
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func (a *answers) serve(w http.ResponseWriter, r *http.Request, next http.Handler, key, request string) {
	if !a.begin(key) {
		w.Header().Set("Retry-After", "1")
		writeProblem(w, r, http.StatusConflict, "the first request with this Idempotency-Key is still being answered: wait a second and send it again")
		return
	}
	defer a.end(key)
	data, err := a.s.safe.get(r.Context(), sectionAnswers, key, a.s.now())
	if err != nil {
		a.s.log.Error("stored answers cannot be read", "error", err)
		writeProblem(w, r, http.StatusInternalServerError, "")
		return
	}
	var before answer
	if data != nil && json.Unmarshal(data, &before) == nil {
		replay(w, r, &before, request)
		return
	}
	rec := &recorder{ResponseWriter: w, status: http.StatusOK}
	next.ServeHTTP(rec, r)
	a.keep(r, key, request, rec)
}

func (a *answers) begin(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[key] {
		return false
	}
	a.busy[key] = true
	return true
}

func (a *answers) end(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, key)
}

// replay answers as before.
func replay(w http.ResponseWriter, r *http.Request, before *answer, request string) {
	if before.Request != request {
		writeProblem(w, r, http.StatusUnprocessableEntity, "this Idempotency-Key was used for another request: use a new one for each")
		return
	}
	for name, values := range before.Header {
		w.Header()[name] = values
	}
	w.Header().Set("Idempotent-Replayed", "true")
	w.WriteHeader(before.Status)
	_, _ = w.Write(before.Body) // the client has gone
}

// keep stores an answer, but for failures of the server, after which a request may be tried again.
func (a *answers) keep(r *http.Request, key, request string, rec *recorder) {
	if rec.status >= http.StatusInternalServerError || rec.status == http.StatusUnauthorized || rec.body.Len() > maxAnswer {
		return
	}
	header := http.Header{}
	for _, name := range []string{"Content-Type", "Etag", "Location"} {
		if v := rec.Header().Values(name); len(v) > 0 {
			header[name] = v
		}
	}
	data, err := json.Marshal(answer{Request: request, Status: rec.status, Header: header, Body: rec.body.Bytes()})
	if err == nil {
		err = a.s.safe.put(context.WithoutCancel(r.Context()), sectionAnswers, key, data, a.s.now().Add(answerTime))
	}
	if err != nil {
		a.s.log.Error("an answer was not stored: the same request would be done again", "error", err)
	}
}

// recorder notes what is written through it.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	if r.body.Len() <= maxAnswer {
		r.body.Write(b)
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
