package process

import "log/slog"

// StandardLog sends what packages say by the standard logger to h, at level debug, and what they say by the default one
// of slog. Otherwise net/http tells on any program's standard error that a server answered unasked.
func StandardLog(h slog.Handler) {
	slog.SetLogLoggerLevel(slog.LevelDebug)
	slog.SetDefault(slog.New(h))
}
