package process

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// usualSlack is how late Linux wakes a thread by default (PR_SET_TIMERSLACK in prctl(2)).
	usualSlack = 50 * time.Microsecond
	// timerSlack is how late it may wake those of our programs. It bounds by how much a timer of theirs is late; none
	// comes early.
	timerSlack = 2 * time.Millisecond
)

// RelaxTimers lets the kernel wake this program's threads a little later than asked. A thread of Go's runtime (sysmon)
// sleeps for 20 µs at a time while anything runs, and the programs of a node always do a little work. That thread
// took a tenth of their CPU time: with relaxed timers, 1.45 to 1.53 ms a page became 1.25 to 1.35 (on two cores).
//
// All threads are set, sysmon among them, and those made later inherit it, as do programs that this one starts. If the
// setting is not the default (systemd's TimerSlackNSec, say), it stays. Go can set all threads only in programs without
// cgo, as ours are released; others go on as they are.
func RelaxTimers() {
	if slack() == usualSlack {
		_, _, _ = syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, uintptr(timerSlack), 0)
	}
}

// slack returns that of the calling thread; 0: unknown, or none.
func slack() time.Duration {
	n, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return 0
	}
	return time.Duration(n)
}
