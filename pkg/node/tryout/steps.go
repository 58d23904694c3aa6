package tryout

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

// maxLines is how many lines of the log are told of a step.
const maxLines = 50

// object is what goes into a step or comes out of it.
type object = map[string]any

// step is one that is under way.
type step struct {
	r       *run
	told    trial.Step
	started time.Time
	waited  time.Duration
	nodes   time.Duration // of plug-ins within it, which have steps of their own
}

// begin begins a step. Lines of the log are its own until the next begins.
func (r *run) begin(id string, in object) *step {
	r.lines.take()
	return &step{r: r, told: trial.Step{ID: id, In: trial.Shown(in)}, started: time.Now()}
}

// end ends it.
func (s *step) end(v trial.Verdict, out object, format string, args ...any) {
	took := time.Since(s.started) - s.waited - s.nodes
	t := &s.told
	t.Verdict, t.Text, t.Out = v, plaintext.Of(fmt.Sprintf(format, args...), trial.MaxShown), trial.Shown(out)
	t.Took, t.Waited = took.Microseconds(), s.waited.Microseconds()
	t.Diff, t.Log = trial.Compare(t.In, t.Out), s.r.lines.take()
	s.r.trial.Steps = append(s.r.trial.Steps, *t)
}

// with is an object with further keys. What is empty is left out.
func with(o object, pairs ...any) object {
	out := make(object, len(o)+len(pairs)/2)
	for key, v := range o {
		out[key] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if v := reflect.ValueOf(pairs[i+1]); v.IsValid() && !v.IsZero() {
			out[pairs[i].(string)] = pairs[i+1]
		}
	}
	return out
}

// lines is a slog.Handler that keeps the lines of the step that is under way, besides another.
type lines struct {
	next slog.Handler
	kept *kept
	with string
}

type kept struct {
	mu    sync.Mutex
	lines []string
}

func newLines(next *slog.Logger) *lines { return &lines{next: next.Handler(), kept: &kept{}} }

// take returns the lines since the last call.
func (l *lines) take() (out []string) {
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	out, l.kept.lines = l.kept.lines, nil
	return out
}

// add adds a line.
func (l *lines) add(text string) {
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	if len(l.kept.lines) < maxLines {
		l.kept.lines = append(l.kept.lines, plaintext.Of(text, trial.MaxShown))
	}
}

// Enabled implements slog.Handler.
func (l *lines) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l *lines) Handle(ctx context.Context, rec slog.Record) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s%s", strings.ToLower(rec.Level.String()), rec.Message, l.with)
	rec.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&b, " %s=%v", a.Key, a.Value)
		return true
	})
	l.add(b.String())
	if l.next.Enabled(ctx, rec.Level) {
		return l.next.Handle(ctx, rec)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (l *lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	text := l.with
	for _, a := range attrs {
		text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
	}
	return &lines{l.next.WithAttrs(attrs), l.kept, text}
}

// WithGroup implements slog.Handler.
func (l *lines) WithGroup(name string) slog.Handler {
	return &lines{l.next.WithGroup(name), l.kept, l.with}
}
