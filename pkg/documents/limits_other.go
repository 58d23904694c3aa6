//go:build !linux

package documents

import "time"

// limitMemory leaves the memory to the collector's goal and the sandbox's own bound: only Linux is told more.
func limitMemory() error { return nil }

// limitTime leaves the time to the parent.
func limitTime(time.Duration) error { return nil }
