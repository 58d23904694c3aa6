//go:build !linux

package member

import "time"

var processStart = time.Now()

// BootClock is a monotonic clock. On Linux it also counts the time for which the machine was suspended; here it does
// not.
func BootClock() time.Duration { return time.Since(processStart) }
