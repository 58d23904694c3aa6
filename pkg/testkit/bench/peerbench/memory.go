package peerbench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// look is how often a crawler's memory is looked at.
const look = 50 * time.Millisecond

// mostMemory returns the most memory in bytes that a process had resident until the last look before over; 0 where
// /proc does not tell. What wait4 says of a child is no less than what its parent had when it started the child.
func mostMemory(pid int, over <-chan struct{}) (most int64) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		if now := highWater(pid); now > most {
			most = now
		}
		select {
		case <-over:
			return most
		case <-tick.C:
		}
	}
}

// highWater is VmHWM of a process: proc_pid_status(5).
func highWater(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(data, []byte("\nVmHWM:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return kib << 10
}
