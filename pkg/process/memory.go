package process

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// gcPercent lets the heap grow by half more than Go's default before it is collected. Measured on the frontier: a tenth
// less CPU time for about 25 MB. GOGC overrides it.
const gcPercent = 150

// heapFloor is memory, in bytes, that the collector counts as in use in addition to the real heap. A stage that only
// passes messages on uses little, and would be collected all the time. The block is never written to, so it takes no
// memory itself. With gcPercent, a heap is not collected before it has 36 MiB of garbage.
const heapFloor = 24 << 20

var floor []byte // keeps the floor reachable

// coresPart is the part of the machine's cores that one of the programs of a node runs on at once.
const coresPart = 4

// ShareCores is for a program that shares the machine with others of its node. Their threads would look for work on all
// cores, find little and wake one another. On two cores, the programs of a node took 1.72 ms a page with one core each
// and 2.07 ms with both, in consecutive runs. GOMAXPROCS overrides it, and so does a container's limit.
func (p *Program) ShareCores() {
	if n := runtime.NumCPU(); os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) == n {
		runtime.GOMAXPROCS(max(1, n/coresPart))
	}
}

// profileEvery is how many bytes are allocated between two samples of the heap profile. With the default of 512 KB the
// samples took 2 % of a parser's CPU time.
const profileEvery = 8 << 20

// memoryPart is the part of a container's memory that the heap may use. The rest is for stacks, kernel buffers that
// count too, and fragmentation.
const memoryPart = 0.9

// cgroupMemory holds the limit of the container that the program runs in (cgroup v2).
const cgroupMemory = "/sys/fs/cgroup/memory.max"

// tuneMemory sets how often the heap is collected and bounds it by the container's memory. It returns the bound in
// bytes, 0 if there is none. GOGC and GOMEMLIMIT override it.
func tuneMemory(cgroupFile string) int64 {
	runtime.MemProfileRate = profileEvery
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
		floor = make([]byte, heapFloor)
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
