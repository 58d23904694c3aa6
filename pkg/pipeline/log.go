package pipeline

import (
	"context"
	"log/slog"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// loudAttempt is the attempt from which a failure is an error to people: a fault that passes by itself has passed by
// then, and one that stays, such as a full disk, would stop the crawl without a word. A permanent failure is one at
// once.
const loudAttempt = 3

// failed says that a message failed, and what it was about. Where the failure is expected, or a service stays away, one
// line stands for many.
func (r *runner[In]) failed(ctx context.Context, m bus.Message, err error) {
	if bus.IsExpected(err) {
		r.waits.Say(r.cfg.Log, "messages wait", "stage", r.cfg.Name, "reason", err)
		return
	}
	if bus.IsAway(err) && m.Attempt >= loudAttempt {
		r.away.Complain(r.cfg.Log, "messages wait until a service takes them", "stage", r.cfg.Name, "reason", err)
		return
	}
	level := slog.LevelWarn
	if m.Attempt >= loudAttempt || crawl.IsPermanent(err) {
		level = slog.LevelError
	}
	args := append([]any{"stage", r.cfg.Name, "id", m.ID}, about(m.Event)...)
	r.cfg.Log.Log(ctx, level, "message failed", append(args, "attempt", m.Attempt, "error", err)...)
}

// about returns attributes that say what an event is about.
func about(e crawl.Event) []any {
	subjected, ok := e.(crawl.Subjected)
	if !ok {
		return nil
	}
	s := subjected.Subject()
	if s.URL.IsZero() {
		return []any{"job", s.Job, "urls", s.URLs}
	}
	return []any{"job", s.Job, "url", s.URL}
}
