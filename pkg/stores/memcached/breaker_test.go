package memcached

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestADeadServerIsLeftAloneAndSaidSoOnce(t *testing.T) {
	w := newBreakerWorld()
	for i := range 2 * maxFailures {
		if got := w.try(errRefused); got != (i < maxFailures) {
			t.Errorf("call %d was made: %v", i, got)
		}
	}
	for _, rest := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		w.now = w.now.Add(rest*time.Second - 1)
		if w.try(errRefused) {
			t.Errorf("a call was made before %d s were over", rest)
		}
		w.now = w.now.Add(1)
		a, ok := w.allow()
		if _, again := w.allow(); !ok || again {
			t.Errorf("after %d s: first call made %v, second %v; want one", rest, ok, again)
		}
		w.done(a, errRefused)
	}
	w.now = w.now.Add(time.Minute)
	for range 2 {
		if !w.try(nil) {
			t.Error("want calls to go through after a success")
		}
	}
	lines := strings.Split(strings.TrimSpace(w.out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "does not answer") || !strings.Contains(lines[1], "answers again") {
		t.Errorf("logged %q, want one line when it begins and one when it ends", lines)
	}
}

// On a busy machine calls time out now and then, all that are under way at once. That is no news of the server.
func TestAMomentsStallIsNotLogged(t *testing.T) {
	w := newBreakerWorld()
	for range 100 {
		var calls []attempt
		for range 4 * maxFailures {
			a, ok := w.allow()
			if !ok {
				t.Fatal("the server is left alone")
			}
			calls = append(calls, a)
		}
		for _, a := range calls {
			w.now = w.now.Add(time.Millisecond)
			w.done(a, errRefused)
		}
		w.now = w.now.Add(time.Millisecond)
		w.try(nil)
	}
	for range maxFailures { // a longer one: left alone for a second, and there again
		w.try(errRefused)
	}
	w.now = w.now.Add(minRest)
	if !w.try(nil) || w.out.Len() > 0 {
		t.Errorf("logged %q, want nothing", w.out.String())
	}
}

var errRefused = errors.New("refused")

// breakerWorld is a breaker with a clock and a log of its own.
type breakerWorld struct {
	*breaker
	now time.Time
	out bytes.Buffer
}

func newBreakerWorld() *breakerWorld {
	w := &breakerWorld{now: time.Unix(0, 0)}
	w.breaker = &breaker{server: "s", log: slog.New(slog.NewTextHandler(&w.out, nil)),
		now: func() time.Time { return w.now }}
	return w
}

// try makes a call, if it may be made, that ends at once.
func (w *breakerWorld) try(err error) (made bool) {
	a, ok := w.allow()
	if ok {
		w.done(a, err)
	}
	return ok
}
