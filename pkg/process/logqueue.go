package process

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Bounds of the lines of a log that wait to be stored elsewhere.
const (
	queuedLines = 4096
	maxLogValue = 2 << 10 // bytes of a message, and of a value
)

// LogEntry is a line of a program's log.
type LogEntry struct {
	Number  int64 // in the program's log, from 1
	At      time.Time
	Level   slog.Level
	Message string
	Fields  map[string]string
}

// LogQueue keeps lines of a program's log until somebody stores them, from level info on. It never waits: where nobody
// takes them, the oldest are dropped and counted.
type LogQueue struct {
	mu      sync.Mutex
	lines   []LogEntry
	dropped int64
	last    int64         // number of the last line
	more    chan struct{} // has a value when there are lines
}

func newLogQueue() *LogQueue { return &LogQueue{more: make(chan struct{}, 1)} }

// More has a value when lines wait.
func (q *LogQueue) More() <-chan struct{} { return q.more }

// Take takes up to n lines, the oldest first, and how many were dropped before them.
func (q *LogQueue) Take(n int) (lines []LogEntry, dropped int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.lines))
	lines, q.lines = q.lines[:n:n], q.lines[n:]
	dropped, q.dropped = q.dropped, 0
	return lines, dropped
}

// Return puts lines back that could not be stored, before the others. What has no room is dropped.
func (q *LogQueue) Return(lines []LogEntry, dropped int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	room := max(queuedLines-len(q.lines), 0)
	lost := max(len(lines)-room, 0)
	q.lines = append(lines[lost:len(lines):len(lines)], q.lines...)
	q.dropped += dropped + int64(lost)
}

func (q *LogQueue) add(e LogEntry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) >= queuedLines {
		q.lines = q.lines[1:]
		q.dropped++
	}
	q.last++
	e.Number = q.last
	q.lines = append(q.lines, e)
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// handler returns a handler that keeps what it is given, and passes it on.
func (q *LogQueue) handler(next slog.Handler) slog.Handler {
	return &queueHandler{queue: q, next: next}
}

type queueHandler struct {
	queue *LogQueue
	next  slog.Handler
	attrs []slog.Attr
	group string
}

// Enabled implements slog.Handler.
func (h *queueHandler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

// Handle implements slog.Handler.
func (h *queueHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		e := LogEntry{At: r.Time.UTC(), Level: r.Level, Message: bounded(r.Message),
			Fields: make(map[string]string, len(h.attrs)+r.NumAttrs())}
		for _, a := range h.attrs {
			e.Fields[a.Key] = bounded(a.Value.Resolve().String())
		}
		r.Attrs(func(a slog.Attr) bool {
			e.Fields[h.group+a.Key] = bounded(a.Value.Resolve().String())
			return true
		})
		h.queue.add(e)
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *queueHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
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
func (h *queueHandler) WithGroup(name string) slog.Handler {
	out := *h
	out.next, out.group = h.next.WithGroup(name), h.group+name+"."
	return &out
}

// bounded is a text of maxLogValue bytes at most, of whole characters.
func bounded(text string) string {
	if len(text) <= maxLogValue {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogValue], "")
}
