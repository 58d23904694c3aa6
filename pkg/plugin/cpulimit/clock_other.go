//go:build !linux

package cpulimit

import "time"

// Thread returns a clock that stands in for the calling thread's.
func Thread() Clock { return wall() }

// Process returns a clock that stands in for the process's.
func Process(int) Clock { return wall() }

func wall() Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
