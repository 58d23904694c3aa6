package member

import (
	"time"

	"golang.org/x/sys/unix"
)

// BootClock is a monotonic clock that also counts the time for which the machine was suspended: the process's own stands still then, and a
// node that wakes up would believe that it had been heard of a moment ago.
func BootClock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("member: " + err.Error()) // every Linux since 2.6.39 has this clock
	}
	return time.Duration(t.Nano())
}
