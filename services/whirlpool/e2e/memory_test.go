package e2e_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"
)

var highWater = regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB$`)

// peakMemory watches a process until it ends and returns the most memory it held, in bytes; 0 where the system does not
// tell. The figure that wait4 gives would not do: on Linux it begins with that of the process that forked, which is the
// test.
func peakMemory(p *life) (peak int64) {
	file := fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if status, err := os.ReadFile(file); err == nil {
			if m := highWater.FindSubmatch(status); m != nil {
				kib, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits
				peak = max(peak, kib<<10)
			}
		}
		select {
		case <-p.ended:
			return peak
		case <-tick.C:
		}
	}
}

// within fails the test where a process held more than limit bytes.
func within(t *testing.T, what string, peak, limit int64) {
	t.Helper()
	switch {
	case peak == 0:
		t.Logf("%s: this system does not tell the memory of a process", what)
	case peak > limit:
		t.Errorf("%s: held %d MB, want at most %d MB", what, peak>>20, limit>>20)
	}
}
