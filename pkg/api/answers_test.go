package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// copyOf is another copy of the program: it has the same vault, and answers requests by the handler.
func (w *world) copyOf(now func() time.Time, h http.HandlerFunc) http.Handler {
	s := &Server{Deps: w.s.Deps, log: w.s.log, now: now, safe: w.s.safe}
	s.guard = newGuard(s)
	s.AdmitKey(w.key)
	return s.identified(newAnswers(s).wrap(h))
}

// posted is what a handler answers to a POST with an Idempotency-Key.
func (w *world) posted(h http.Handler, content string) *http.Response {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, base+"/x", strings.NewReader(content))
	r.Header.Set("Authorization", "Bearer "+w.key)
	r.Header.Set("Idempotency-Key", "k")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result() //nolint:bodyclose // of a recorder
}

// Two copies of the program get the same request: one does it, and the other waits, then answers the same.
func TestARequestIsDoneOnceOverAllCopies(t *testing.T) {
	w := newWorld(t)
	begun, end := make(chan struct{}), make(chan struct{})
	one := w.copyOf(time.Now, func(rw http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-end
		rw.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(rw, "done by one")
	})
	two := w.copyOf(time.Now, func(rw http.ResponseWriter, _ *http.Request) {
		t.Error("it was done again")
		rw.WriteHeader(http.StatusCreated)
	})
	first := make(chan *http.Response)
	go func() { first <- w.posted(one, "{}") }()
	<-begun
	if got := w.posted(two, "{}"); got.StatusCode != http.StatusConflict || got.Header.Get("Retry-After") == "" {
		t.Errorf("while the first is answered: %d", got.StatusCode)
	}
	close(end)
	if got := <-first; got.StatusCode != http.StatusCreated {
		t.Errorf("the first: %d", got.StatusCode)
	}
	got := w.posted(two, "{}")
	text, _ := io.ReadAll(got.Body)
	if got.StatusCode != http.StatusCreated || string(text) != "done by one" ||
		got.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the other copy: %d %s", got.StatusCode, text)
	}
	if got := w.posted(two, `{"a":1}`); got.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("another request with the key: %d", got.StatusCode)
	}
}

// A copy that is killed while it answers keeps the others from the request for some minutes, not for ever. A failure
// lets the request be tried again at once.
func TestARequestOfACopyThatWasKilled(t *testing.T) {
	w := newWorld(t)
	begun := make(chan struct{})
	one := w.copyOf(time.Now, func(http.ResponseWriter, *http.Request) {
		close(begun)
		select {} // it never comes back
	})
	go w.posted(one, "{}")
	<-begun
	now, statuses := time.Now(), []int{http.StatusInternalServerError, http.StatusOK}
	two := w.copyOf(func() time.Time { return now }, func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(statuses[0])
		_, _ = io.WriteString(rw, strconv.Itoa(statuses[0]))
		statuses = statuses[1:]
	})
	if got := w.posted(two, "{}"); got.StatusCode != http.StatusConflict {
		t.Fatalf("at once: %d", got.StatusCode)
	}
	now = now.Add(busyTime + time.Second)
	for _, want := range []int{http.StatusInternalServerError, http.StatusOK, http.StatusOK} {
		if got := w.posted(two, "{}"); got.StatusCode != want {
			t.Errorf("%d, want %d", got.StatusCode, want)
		}
	}
	if len(statuses) != 0 {
		t.Errorf("it was not tried twice: %v are left", statuses)
	}
}
