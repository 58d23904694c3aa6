package documents

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// workerMemory is the memory that a process may write to, beside its stack: its own 400 MiB, PDFium's 256 MiB twice
// while they grow, and what the compiler takes.
const workerMemory = raceFactor * 1536 << 20

// limitMemory bounds the memory of this process, and forbids it to start others or to leave cores.
func limitMemory() error {
	for what, limit := range map[int]uint64{unix.RLIMIT_DATA: workerMemory, unix.RLIMIT_CORE: 0} {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	return nil
}

// limitTime bounds the processor time of the next document: the end of a process whose parent was killed. Its parent
// looks at the clock.
func limitTime(d time.Duration) error {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return err
	}
	// it has several threads, and compiles
	seconds := float64(used.Utime.Sec+used.Stime.Sec) + 4*math.Ceil(d.Seconds()) + 30
	return unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: uint64(seconds), Max: unix.RLIM_INFINITY})
}
