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
// Its level is one that can be changed.
func newLogger(
	w io.Writer, cfg Log, service, node string, queue *LogQueue, at *slog.LevelVar,
) (*slog.Logger, *Limiter, error) {
	level, err := cfg.level()
	if err != nil {
		return nil, nil, err
	}
	at.Set(level)
	opt := &slog.HandlerOptions{Level: at}
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

// SetLogLevel changes what is in the log: debug, info, warn or error, and what is worse. Empty, or another word: as
// it was configured.
func (p *Program) SetLogLevel(name string) {
	level, err := p.Config.Log.level()
	var other slog.Level
	if other.UnmarshalText([]byte(name)) == nil {
		level, err = other, nil
	}
	if err == nil && level != p.level.Level() {
		p.level.Set(level)
		p.Log.Info("the level of the log was changed", "level", level)
	}
}
