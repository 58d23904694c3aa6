package bus

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// waitsEvery is how often it is said, at most, that messages wait for what is expected.
const waitsEvery = time.Minute

// Waits logs that messages wait for something that is not their fault (IsExpected, IsAway): at most one line a minute
// for all of them. The zero value is ready.
type Waits struct {
	mu      sync.Mutex
	last    time.Time
	unnamed int
}

// Say writes the line, or counts what waits for the next one.
func (w *Waits) Say(log *slog.Logger, message string, args ...any) {
	w.SayAt(log, slog.LevelInfo, message, args...)
}

// SayAt is Say with another level.
func (w *Waits) SayAt(log *slog.Logger, level slog.Level, message string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); w.last.IsZero() || now.Sub(w.last) >= waitsEvery {
		log.Log(context.Background(), level, message, append(args, "others_since_the_last_line", w.unnamed)...)
		w.last, w.unnamed = now, 0
		return
	}
	w.unnamed++
}
