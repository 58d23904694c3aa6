//go:build !linux

package member

import "time"

var processStart = time.Now()

// BootClock is a monotonic clock. On Linux it includes the time for which the machine was suspended; on this system it
// does not.
func BootClock() time.Duration { return time.Since(processStart) }
