package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Logs implements Reader. Without an execution it lists the program's log; with one its crawl.log, or the lines of the
// program's log about it where Source asks for them.
func (x *Explorer) Logs(ctx context.Context, f LogFilter, p Page) (*List[LogLine], error) {
	var level slog.Level
	if f.Level != "" {
		if err := level.UnmarshalText([]byte(f.Level)); err != nil {
			return nil, fmt.Errorf("%w: level %q: want DEBUG, INFO, WARN or ERROR", ErrInvalid, plain(f.Level, 40))
		}
	} else {
		level = slog.LevelDebug
	}
	follow := f.After
	f.After = ""
	c, err := cursorFrom(p, listOf("logs", f))
	if err != nil {
		return nil, err
	}
	switch {
	case f.Source != "" && f.Source != "server" && f.Source != "crawl":
		return nil, fmt.Errorf("%w: source %q: want server or crawl", ErrInvalid, plain(f.Source, 40))
	case f.Source == "crawl" && f.Execution == "":
		return nil, fmt.Errorf("%w: a crawl.log is of an execution: say of which", ErrInvalid)
	case f.Source != "server" && f.Execution != "":
		return x.crawlLog(ctx, f, level, follow, c, limitOf(p))
	}
	return x.serverLog(f, level, follow, c, limitOf(p)), nil
}

// serverLog lists lines of the ring.
func (x *Explorer) serverLog(f LogFilter, level slog.Level, follow string, c cursor, limit int) *List[LogLine] {
	out := &List[LogLine]{Items: []LogLine{}}
	first, last := x.opt.Ring.bounds()
	from, step := last, int64(-1)
	if c.ID > 0 {
		from = c.ID - 1
	}
	if follow != "" {
		from, step = x.opt.Ring.number(follow)+1, 1
	}
	for n := from; n >= first && n <= last; n += step {
		l, ok := x.opt.Ring.at(n)
		if !ok {
			break
		}
		out.Scanned++
		if !f.matches(&l, level) {
			continue
		}
		if out.Items = append(out.Items, l); len(out.Items) == limit {
			if step < 0 && n > first {
				out.Next = cursor{Of: c.Of, ID: n}.encode()
			}
			break
		}
	}
	return out
}

func (f *LogFilter) matches(l *LogLine, level slog.Level) bool {
	var have slog.Level
	if have.UnmarshalText([]byte(l.Level)) == nil && have < level || !f.within(l.At) {
		return false
	}
	if l.Source != "crawl" && (f.Reason != "" || f.Status > 0) {
		return false // the program's own lines have neither
	}
	return (f.Execution == "" || l.Execution == f.Execution) && (f.Host == "" || l.Host == f.Host) &&
		(f.Verdict == "" || l.Verdict == f.Verdict) && (f.Query == "" || strings.Contains(l.Message, f.Query) ||
		strings.Contains(l.URL, asStored(f.Query)) || strings.Contains(string(l.Fields), f.Query))
}

func (f *LogFilter) within(at time.Time) bool {
	return (f.Since.IsZero() || !at.Before(f.Since)) && (f.Until.IsZero() || at.Before(f.Until))
}

// number is that of a line by its id; 0 where it is of another run.
func (r *Ring) number(id string) int64 {
	boot, n, _ := strings.Cut(strings.TrimPrefix(id, "s"), ".")
	number, err := strconv.ParseInt(n, 36, 64)
	if err != nil || boot != r.boot {
		return 0
	}
	return number
}

// maxLogRead is how much of a crawl.log a page of its list reads.
const maxLogRead = 4 << 20

// crawlLog lists lines of a crawl.log, the newest first, or those behind a line.
func (x *Explorer) crawlLog(ctx context.Context, f LogFilter, level slog.Level, follow string, c cursor,
	limit int) (*List[LogLine], error) {
	ix, err := x.index(ctx, f.Execution)
	if err != nil {
		return nil, err
	}
	out := &List[LogLine]{Items: []LogLine{}}
	must := f.certain()
	use := func(text []byte, off int64) bool {
		out.Scanned++
		if l, ok := ix.wanted(&f, must, level, text, off); ok && l.ID != follow {
			out.Items = append(out.Items, l)
		}
		return len(out.Items) < limit
	}
	if follow != "" {
		off, err := offsetOf(follow, f.Execution)
		if err != nil {
			return nil, err
		}
		return out, ix.linesFrom(off, use)
	}
	end := int64(math.MaxInt64)
	if c.ID > 0 {
		end = c.ID
	}
	next, err := ix.linesBefore(end, use)
	if next > 0 {
		out.Next = cursor{Of: c.Of, ID: next}.encode()
	}
	return out, err
}

// logLine is a line of crawl.log as the list has it.
func (x *index) logLine(l *crawl.LogLine, off int64) LogLine {
	out := LogLine{ID: "c" + string(x.source().ID) + "." + strconv.FormatInt(off, 36), At: l.At, Source: "crawl",
		Level: levelOf(l).String(), Execution: x.source().ID, Host: l.URL.HostKey(), URL: plain(l.URL.String(), maxURL),
		Verdict: l.Verdict.String(), Status: l.Status}
	what := ""
	if l.Kind == crawl.KindRender {
		what = l.Kind.String()
	}
	out.Message = strings.Join(slices.DeleteFunc([]string{what, out.Verdict, statusText(l.Status), l.Reason,
		plain(l.Detail, maxLogText)},
		func(s string) bool { return s == "" }), " ")
	fields := map[string]any{"kind": l.Kind.String(), "depth": l.Depth, "bytes": l.Bytes,
		"ms": float64(l.Duration.Microseconds()) / 1000, "attempt": l.Attempt, "reason": plain(l.Reason, maxWord),
		"detail": plain(l.Detail, maxLogText), "referrer": plain(l.Referrer.String(), maxURL),
		"location": plain(l.Location.String(), maxURL), "epoch": l.Epoch}
	for name, v := range fields {
		if v == "" || v == 0 || v == 0.0 || v == int64(0) || v == uint32(0) {
			delete(fields, name)
		}
	}
	out.Fields, _ = json.Marshal(fields) // strings and numbers
	return out
}

func statusText(status int) string {
	if status == 0 {
		return ""
	}
	return strconv.Itoa(status)
}

// levelOf returns the log level of a line of crawl.log.
func levelOf(l *crawl.LogLine) slog.Level {
	switch l.Verdict {
	case crawl.VerdictFailed:
		return slog.LevelError
	case crawl.VerdictRetry, crawl.VerdictInterrupted, crawl.VerdictBlocked, crawl.VerdictRefused, crawl.VerdictGone:
		return slog.LevelWarn
	case crawl.VerdictExcluded:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// LogLine implements Reader.
func (x *Explorer) LogLine(ctx context.Context, id string) (*LogLine, error) {
	if strings.HasPrefix(id, "s") {
		if l, ok := x.opt.Ring.at(x.opt.Ring.number(id)); ok {
			return &l, nil
		}
		return nil, fmt.Errorf("log line %s: %w: the program keeps its last %d lines", plain(id, 60), ErrNotFound, ringLines)
	}
	job, _, ok := strings.Cut(strings.TrimPrefix(id, "c"), ".")
	off, err := offsetOf(id, crawl.JobID(job))
	if !ok || err != nil {
		return nil, fmt.Errorf("log line %s: %w", plain(id, 60), ErrNotFound)
	}
	ix, err := x.index(ctx, crawl.JobID(job))
	if err != nil {
		return nil, err
	}
	lines, err := ix.logLines([]int64{off})
	if err != nil || len(lines) == 0 {
		return nil, fmt.Errorf("log line %s: %w", plain(id, 60), ErrNotFound)
	}
	l := ix.logLine(lines[0], off)
	return &l, nil
}

// offsetOf reads the id of a line of an execution's crawl.log.
func offsetOf(id string, job crawl.JobID) (int64, error) {
	have, text, _ := strings.Cut(strings.TrimPrefix(id, "c"), ".")
	off, err := strconv.ParseInt(text, 36, 64)
	if err != nil || off < 0 || have != string(job) || !strings.HasPrefix(id, "c") {
		return 0, fmt.Errorf("%w: %q is no id of a line of that crawl.log", ErrInvalid, plain(id, 60))
	}
	return off, nil
}
