package process

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// The formats of logs.
const (
	formatAuto = "auto"
	formatJSON = "json"
	formatText = "text"
)

// newLogger returns the logger of a program: JSON, or text if w is a terminal. Its lines have the service and the node.
// What they say is kept in queue, too;
// nil: nowhere. Close the limiter to log what it has suppressed.
func newLogger(w io.Writer, cfg Log, service, node string, queue *LogQueue) (*slog.Logger, *Limiter, error) {
	level, err := cfg.level()
	if err != nil {
		return nil, nil, err
	}
	opt := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewJSONHandler(w, opt)
	if cfg.Format == formatText || cfg.Format == formatAuto && isTerminal(w) {
		h = slog.NewTextHandler(w, opt)
	}
	if queue != nil {
		h = queue.handler(h)
	}
	limiter := NewLimiter(h.WithAttrs([]slog.Attr{slog.String("service", service), slog.String("node", node)}), cfg.Limit)
	return slog.New(limiter), limiter, nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
