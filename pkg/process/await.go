package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// How often a missing service is tried again, how long one try may take, and how often the log says that the program
// still waits.
const (
	backoffMin = 100 * time.Millisecond
	backoffMax = 5 * time.Second
	tryTime    = 10 * time.Second
	remindTime = time.Minute
)

// errAsked is the reason of a service that has not answered the first try yet.
var errAsked = errors.New("has not answered yet")

// errSlow says why a try was cancelled.
var errSlow = fmt.Errorf("no answer in %v", tryTime)

// Await calls try until it returns nil, with growing pauses. It gives up only when ctx ends, and then returns the
// cause. Meanwhile the program is not ready. The log says what it waits for and why: once, again if the reason changes
// or a minute has passed, and when the service has come.
//
// A try is cancelled after ten seconds. The context of the successful try lives as long as ctx, so that what it opened
// may keep it.
func (p *Program) Await(ctx context.Context, name string, try func(ctx context.Context) error) error {
	w := &waiting{log: p.Log.With("for", name), began: time.Now()}
	p.health.set(name, errAsked)
	for pause := backoffMin; ; pause = min(2*pause, backoffMax) {
		err := attempt(ctx, try)
		if err == nil {
			p.health.set(name, nil)
			w.ended()
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.failed(err)
		p.health.set(name, err)
		if !sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// attempt makes one try, bounded in time unless it succeeds.
func attempt(ctx context.Context, try func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	bound := time.AfterFunc(tryTime, func() { cancel(errSlow) })
	err := try(ctx)
	bound.Stop()
	if err == nil {
		return nil
	}
	if errors.Is(context.Cause(ctx), errSlow) {
		err = fmt.Errorf("%w: %w", errSlow, err)
	}
	cancel(err)
	return err
}

// sleep waits for d and reports whether ctx is still alive then.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// waiting decides what the log hears of a wait.
type waiting struct {
	log    *slog.Logger
	began  time.Time
	said   time.Time // zero: nothing was said
	reason error
}

func (w *waiting) failed(err error) {
	now := time.Now()
	if w.said.IsZero() || now.Sub(w.said) >= remindTime || gist(err) != gist(w.reason) {
		w.log.Warn("waiting", "reason", err, "since", w.began)
		w.said = now
	}
	w.reason = err
}

func (w *waiting) ended() {
	if w.said.IsZero() {
		w.log.Debug("there at once")
		return
	}
	w.log.Info("the service is available now", "waited", time.Since(w.began))
}

// gist is an error's text without its numbers: those of ports that the system gives out differ from try to try.
func gist(err error) string {
	if err == nil {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, err.Error())
}
