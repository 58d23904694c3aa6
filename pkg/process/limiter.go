package process

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// limitWindow is the time in which repeats are counted, maxLimitKeys the number of messages counted separately.
// Messages are constants of the program, so there are fewer. If a message has a URL in it by mistake, memory stays
// bounded all the same.
const (
	limitWindow  = time.Second
	maxLimitKeys = 1024
)

// stageKey is the attribute that keeps the messages of a node's stages apart.
const stageKey = "stage"

// Limiter is a slog.Handler that passes only so many records a second with the same level, message and stage. It counts
// the others, and logs their number within the second.
type Limiter struct {
	next  slog.Handler
	stage string // of the logger, where it has one
	state *limitState
}

// limitKey is what makes two records the same.
type limitKey struct {
	level          slog.Level
	message, stage string
}

type limitState struct {
	limit int

	mu      sync.Mutex
	windows map[limitKey]*limitCount
}

// limitCount counts the records of one key since the window's start.
type limitCount struct {
	passed, left int
	start        time.Time
	timer        *time.Timer // says what was left out; nil: nothing was
	teller       slog.Handler
}

// NewLimiter returns a handler before next that lets limit records a second with the same message pass; 0: all.
func NewLimiter(next slog.Handler, limit int) *Limiter {
	return &Limiter{next: next, state: &limitState{limit: limit, windows: map[limitKey]*limitCount{}}}
}

// Enabled implements slog.Handler.
func (l *Limiter) Enabled(ctx context.Context, level slog.Level) bool {
	return l.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (l *Limiter) Handle(ctx context.Context, r slog.Record) error {
	if l.state.limit == 0 {
		return l.next.Handle(ctx, r)
	}
	k, teller := l.key(r)
	if !l.state.pass(k, teller) {
		return nil
	}
	return l.next.Handle(ctx, r)
}

// key looks for the stage among the record's attributes, then among the logger's. The handler that it returns knows the
// stage.
func (l *Limiter) key(r slog.Record) (limitKey, func() slog.Handler) {
	k := limitKey{level: r.Level, message: r.Message, stage: l.stage}
	teller := func() slog.Handler { return l.next }
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != stageKey {
			return true
		}
		k.stage = a.Value.String()
		teller = func() slog.Handler { return l.next.WithAttrs([]slog.Attr{a}) }
		return false
	})
	return k, teller
}

// WithAttrs implements slog.Handler.
func (l *Limiter) WithAttrs(attrs []slog.Attr) slog.Handler {
	stage := l.stage
	for _, a := range attrs {
		if a.Key == stageKey {
			stage = a.Value.String()
		}
	}
	return &Limiter{next: l.next.WithAttrs(attrs), stage: stage, state: l.state}
}

// WithGroup implements slog.Handler.
func (l *Limiter) WithGroup(name string) slog.Handler {
	return &Limiter{next: l.next.WithGroup(name), stage: l.stage, state: l.state}
}

// Close says what was left out so far. Records may still be handled afterwards.
func (l *Limiter) Close() error {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	errs := make([]error, 0, len(l.state.windows))
	for k, c := range l.state.windows {
		errs = append(errs, c.tell(k))
		delete(l.state.windows, k)
	}
	return errors.Join(errs...)
}

func (s *limitState) pass(k limitKey, teller func() slog.Handler) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	c := s.windows[k]
	if c == nil || now.Sub(c.start) >= limitWindow {
		if c != nil {
			_ = c.tell(k)
		} else if len(s.windows) >= maxLimitKeys {
			s.sweep(now)
		}
		c = &limitCount{start: now}
		s.windows[k] = c
	}
	if c.passed < s.limit {
		c.passed++
		return true
	}
	c.left++
	if c.timer == nil {
		c.teller = teller()
		c.timer = time.AfterFunc(limitWindow-now.Sub(c.start), func() { s.expire(k, c) })
	}
	return false
}

// expire says what c left out when its window is over.
func (s *limitState) expire(k limitKey, c *limitCount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = c.tell(k)
	if s.windows[k] == c {
		delete(s.windows, k)
	}
}

// sweep forgets the windows that are over, and if there are none, all.
func (s *limitState) sweep(now time.Time) {
	before := len(s.windows)
	for k, c := range s.windows {
		if now.Sub(c.start) >= limitWindow {
			_ = c.tell(k)
			delete(s.windows, k)
		}
	}
	if len(s.windows) < before {
		return
	}
	for k, c := range s.windows {
		_ = c.tell(k)
	}
	clear(s.windows)
}

// tell logs how many records were left out, once.
//
//nolint:contextcheck // a log line is not part of what the caller does
func (c *limitCount) tell(k limitKey) error {
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.left == 0 {
		return nil
	}
	r := slog.NewRecord(time.Now(), k.level, "more of the same were left out", 0)
	r.AddAttrs(slog.String("message", k.message), slog.Int("count", c.left))
	c.left = 0
	return c.teller.Handle(context.Background(), r)
}
