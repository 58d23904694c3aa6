package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// answers keeps what was answered to requests with an Idempotency-Key, so that one sent again does nothing twice. It is
// kept in the vault, as is the word that a request is being answered: all copies of the program know.
type answers struct{ s *Server }

const (
	sectionAnswers = "api.answers"
	answerTime     = 24 * time.Hour
	maxAnswer      = 1 << 20
	// busyTime is for a copy that was killed while it answered: longer than any handler may take.
	busyTime = reviseTime + time.Minute
)

// answer is a stored one.
type answer struct {
	Request string      `json:"request"` // hash of method, path and body
	Status  int         `json:"status"`  // 0: it is being answered
	Header  http.Header `json:"header"`
	Body    []byte      `json:"body"`
}

func newAnswers(s *Server) *answers { return &answers{s: s} }

// wrap answers a POST that was answered before as it was then. A key is one actor's.
func (a *answers) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, who := r.Header.Get("Idempotency-Key"), identityOf(r.Context())
		if given == "" || r.Method != http.MethodPost || who.Role < Viewer || secretly(r.URL.Path) || isUpload(r) ||
			r.URL.Path == dryRunPath {
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
	return strings.HasPrefix(path, base+"/api-keys") || path == base+"/login-urls" ||
		strings.HasPrefix(path, base+"/auth/")
}

func requestHash(r *http.Request, content []byte) string {
	h := sha256.New()
	_, _ = io.WriteString(h, r.Method+" "+r.URL.RequestURI()+"\n") // a hash takes everything
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func (a *answers) serve(w http.ResponseWriter, r *http.Request, next http.Handler, key, request string) {
	before, mine, err := a.begin(r.Context(), key, request)
	switch {
	case err != nil:
		a.s.log.Error("stored answers cannot be read", "error", err)
		writeProblem(w, r, http.StatusInternalServerError, "")
	case before != nil:
		replay(w, r, before, request)
	case !mine:
		w.Header().Set("Retry-After", "1")
		writeProblem(w, r, http.StatusConflict,
			"the first request with this Idempotency-Key is still being answered: wait a second and send it again")
	default:
		kept := false
		defer func() { //nolint:contextcheck // it is the request's
			if !kept {
				a.end(r.Context(), key)
			}
		}()
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		kept = a.keep(r, key, request, rec)
	}
}

// begin returns the stored answer, or says that this request is the one that is answered: of all with the same key, at
// all copies of the program, one.
func (a *answers) begin(ctx context.Context, key, request string) (before *answer, mine bool, err error) {
	raw, err := a.s.Vault.Value(ctx, sectionAnswers, key)
	if err != nil {
		return nil, false, err
	}
	if data, good := opened(raw, a.s.now()); good {
		var stored answer
		switch err := json.Unmarshal(data, &stored); {
		case err == nil && stored.Status != 0:
			return &stored, false, nil
		case err == nil:
			return nil, false, nil
		}
	}
	busy, err := json.Marshal(answer{Request: request})
	if err == nil {
		err = a.s.Vault.SwapValue(ctx, sectionAnswers, key, raw, sealed(busy, a.s.now().Add(busyTime)))
	}
	if errors.Is(err, workflow.ErrStale) {
		return nil, false, nil // another was quicker
	}
	return nil, err == nil, err
}

// end lets the request be answered anew.
func (a *answers) end(ctx context.Context, key string) {
	if err := a.s.Vault.SetValue(context.WithoutCancel(ctx), sectionAnswers, key, nil); err != nil {
		a.s.log.Error("a request cannot be tried again for some minutes", "error", err, "minutes", busyTime.Minutes())
	}
}

// replay answers as before.
func replay(w http.ResponseWriter, r *http.Request, before *answer, request string) {
	if before.Request != request {
		writeProblem(w, r, http.StatusUnprocessableEntity,
			"this Idempotency-Key was used for another request: use a new one for each")
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
func (a *answers) keep(r *http.Request, key, request string, rec *recorder) (kept bool) {
	if rec.status >= http.StatusInternalServerError || rec.status == http.StatusUnauthorized ||
		rec.body.Len() > maxAnswer {
		return false
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
	return err == nil
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
