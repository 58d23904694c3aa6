package cpulimit

import (
	"time"

	"golang.org/x/sys/unix"
)

// Thread returns the clock of the calling thread, to which the goroutine must be locked until the last look. Any
// goroutine may read the clock.
func Thread() Clock { return clockOf(int32(unix.Gettid()), perThread) }

// Process returns the clock of a process: of all its threads, not of the processes that it started.
func Process(pid int) Clock { return clockOf(int32(pid), 0) }

// Bits of a clock's number below the complement of the thread's or the process's: see CPUCLOCK_* in the kernel's
// include/linux/posix-timers.h. sched is the scheduler's own count, in nanoseconds.
const (
	sched     = 2
	perThread = 4
)

func clockOf(id, kind int32) Clock {
	number := ^id<<3 | kind | sched
	return func() time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(number, &t); err != nil {
			return 0 // it has ended: who waits for it hears of that
		}
		return time.Duration(t.Nano())
	}
}
