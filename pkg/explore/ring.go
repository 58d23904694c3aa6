package explore

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ringLines is how many lines of the program's log are kept.
const ringLines = 20_000

// maxLogText bounds a message and a value of a log line.
const maxLogText = 2 << 10

// Ring keeps the last lines of the program's log. It never waits.
type Ring struct {
	mu    sync.Mutex
	lines []LogLine // line n is at n modulo ringLines
	last  int64     // number of the last line; 0: there is none
	boot  string    // tells ids of this run from those of the one before
}

// NewRing makes a ring.
func NewRing() *Ring {
	return &Ring{boot: strconv.FormatInt(time.Now().UnixMilli(), 36)}
}

// Handler returns a handler that keeps what it is given, from a level on, and passes it on to next.
func (r *Ring) Handler(next slog.Handler, level slog.Leveler) slog.Handler {
	return &ringHandler{ring: r, next: next, level: level}
}

func (r *Ring) add(l LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	l.ID = "s" + r.boot + "." + strconv.FormatInt(r.last, 36)
	if len(r.lines) < ringLines {
		r.lines = append(r.lines, l)
		return
	}
	r.lines[(r.last-1)%ringLines] = l
}

// at returns a line by its number.
func (r *Ring) at(n int64) (LogLine, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < 1 || n > r.last || n <= r.last-int64(len(r.lines)) {
		return LogLine{}, false
	}
	return r.lines[(n-1)%ringLines], true
}

// bounds are the numbers of the oldest and the newest line.
func (r *Ring) bounds() (first, last int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last - int64(len(r.lines)) + 1, r.last
}

type ringHandler struct {
	ring  *Ring
	next  slog.Handler
	level slog.Leveler
	attrs []slog.Attr
	group string
}

// Enabled implements slog.Handler.
func (h *ringHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level.Level() || h.next.Enabled(ctx, l)
}

// Handle implements slog.Handler.
func (h *ringHandler) Handle(ctx context.Context, rec slog.Record) error {
	if rec.Level >= h.level.Level() {
		h.ring.add(h.line(&rec))
	}
	if h.next.Enabled(ctx, rec.Level) {
		return h.next.Handle(ctx, rec)
	}
	return nil
}

func (h *ringHandler) line(rec *slog.Record) LogLine {
	l := LogLine{At: rec.Time.UTC(), Source: "server", Level: rec.Level.String(), Message: plain(rec.Message, maxLogText)}
	fields := map[string]string{}
	note := func(a slog.Attr) bool {
		v := plain(a.Value.Resolve().String(), maxLogText)
		switch h.group + a.Key {
		case "job", "execution":
			l.Execution = crawl.JobID(v)
		case "host":
			l.Host = v
		case "url":
			l.URL = v
		}
		fields[h.group+a.Key] = v
		return true
	}
	for _, a := range h.attrs {
		fields[a.Key] = plain(a.Value.Resolve().String(), maxLogText)
		if a.Key == "job" || a.Key == "execution" {
			l.Execution = crawl.JobID(fields[a.Key])
		}
	}
	rec.Attrs(note)
	if len(fields) > 0 {
		l.Fields, _ = json.Marshal(fields) // strings only
	}
	return l
}

// WithAttrs implements slog.Handler.
func (h *ringHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *h
	out.next = h.next.WithAttrs(attrs)
	out.attrs = append([]slog.Attr(nil), h.attrs...)
	for _, a := range attrs {
		a.Key = h.group + a.Key
		out.attrs = append(out.attrs, a)
	}
	return &out
}

// WithGroup implements slog.Handler.
func (h *ringHandler) WithGroup(name string) slog.Handler {
	out := *h
	out.next, out.group = h.next.WithGroup(name), h.group+name+"."
	return &out
}
