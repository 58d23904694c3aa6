package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// ErrRebuild marks the end of a component that can go on only if it is built again, such as one whose connection was
// lost.
var ErrRebuild = errors.New("the component must be built again")

// steadyTime is how long a component must have run for its next rebuilding to start without a pause.
const steadyTime = time.Minute

// Supervise calls component, which builds a part of the program and runs it until ctx is done or it fails. If it fails
// with ErrRebuild or one of the errors in rebuild (by errors.Is), it is called again after a pause. The pause grows
// from 100 ms to 5 s, or is the one that the error has (a method Pause). Any other error ends Supervise. It returns nil
// if the component returned nil or ctx is done.
func Supervise(ctx context.Context, log *slog.Logger, name string, component func(ctx context.Context) error,
	rebuild ...error) error {
	rebuild = append([]error{ErrRebuild}, rebuild...)
	pause := backoffMin
	for {
		began := time.Now()
		err := component(ctx)
		again := slices.ContainsFunc(rebuild, func(target error) bool { return errors.Is(err, target) })
		switch stopped := ctx.Err() != nil; {
		case err == nil, stopped && (again || errors.Is(err, context.Canceled)):
			return nil
		case !again:
			return fmt.Errorf("%s: %w", name, err)
		}
		if time.Since(began) >= steadyTime {
			pause = backoffMin
		}
		pause = max(pause, askedPause(err))
		log.Warn("a component failed and is restarted", "component", name, "reason", err, "in", pause)
		if !sleep(ctx, pause) {
			return nil
		}
		pause = min(2*pause, backoffMax)
	}
}

// askedPause is how long an error wants to be waited for: one that people have to mend.
func askedPause(err error) time.Duration {
	var asks interface{ Pause() time.Duration }
	if !errors.As(err, &asks) {
		return 0
	}
	return asks.Pause()
}
