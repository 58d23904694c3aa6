//go:build unix

package pace

import (
	"syscall"
	"time"
)

// ProcessorTime is what the process has used of the processors.
func ProcessorTime() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
