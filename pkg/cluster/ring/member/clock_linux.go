package member

import (
	"time"

	"golang.org/x/sys/unix"
)

// BootClock is a monotonic clock that also counts the time during which the machine was suspended. Go's monotonic clock
// stands still then, so a node that wakes up would believe that it was heard from a moment ago.
func BootClock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("member: " + err.Error()) // every Linux since 2.6.39 has this clock
	}
	return time.Duration(t.Nano())
}
