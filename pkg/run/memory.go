package run

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// gcPercent lets the heap grow by half more than Go's default before it is collected: measured on the frontier, a tenth less CPU
// time for about 25 MB. GOGC wins over it.
const gcPercent = 150

// memoryPart is the part of a container's memory that the heap may take; the rest is left to stacks, buffers of the kernel
// that count too, and fragmentation.
const memoryPart = 0.9

// cgroupMemory holds the limit of the container that the program runs in (cgroup v2).
const cgroupMemory = "/sys/fs/cgroup/memory.max"

// tuneMemory sets how often the heap is collected, and bounds it by the container's memory. It returns the bound in octets, 0 where
// there is none. GOGC and GOMEMLIMIT win.
func tuneMemory(cgroupFile string) int64 {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return 0
	}
	limit := memoryLimit(cgroupFile)
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
	return limit
}

// memoryLimit returns the heap's bound for the limit that the file holds; 0 where it says max or nothing.
func memoryLimit(cgroupFile string) int64 {
	data, err := os.ReadFile(cgroupFile)
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || limit <= 0 || limit == math.MaxInt64 {
		return 0
	}
	return int64(float64(limit) * memoryPart)
}
