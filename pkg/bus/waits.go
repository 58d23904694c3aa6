package bus

import (
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
	w.say(log.Info, message, args)
}

// Complain is Say at the level of errors.
func (w *Waits) Complain(log *slog.Logger, message string, args ...any) {
	w.say(log.Error, message, args)
}

func (w *Waits) say(write func(message string, args ...any), message string, args []any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); w.last.IsZero() || now.Sub(w.last) >= waitsEvery {
		write(message, append(args, "others_since_the_last_line", w.unnamed)...)
		w.last, w.unnamed = now, 0
		return
	}
	w.unnamed++
}
