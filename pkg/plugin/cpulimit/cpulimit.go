// Package cpulimit bounds a call of a plug-in by the CPU time that it takes. By the clock, a call that needs a
// millisecond may take a hundred: on a machine that is busy with something else, or that stands still for a while.
// Where the system cannot tell the CPU time of a thread (all but Linux), the time by the clock stands in for it.
package cpulimit

import (
	"fmt"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Clock returns the CPU time that a thread or a process has taken so far.
type Clock func() time.Duration

// Error says that a call took more CPU time than its limit. It is a plugin.ErrTimeout.
func Error(limit time.Duration) error {
	return fmt.Errorf("%w: %s of CPU time", plugin.ErrTimeout, limit.Round(time.Millisecond))
}

// shortest is the least time between two looks at a clock.
const shortest = time.Millisecond

// watch looks at a clock from time to time.
type watch struct {
	limit, start time.Duration
	clock        Clock
	over         func()

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// Watch calls over, once, when the clock has gone on by limit. It looks for the first time after limit by the clock on
// the wall, so several threads may take more than limit within that time. A limit of 0 or less is none. After stop has
// returned, over is not called and the clock is not read.
func Watch(limit time.Duration, clock Clock, over func()) (stop func()) {
	if limit <= 0 {
		return func() {}
	}
	w := &watch{limit: limit, start: clock(), clock: clock, over: over}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, w.look)
	return w.stop
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	if left := w.limit - (w.clock() - w.start); left > 0 {
		w.timer.Reset(max(left, shortest))
		return
	}
	w.stopped = true
	w.over()
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}
