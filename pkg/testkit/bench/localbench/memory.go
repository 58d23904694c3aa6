package localbench

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// residentMB is the memory of this process in MB, as the kernel counts it; 0 where it does not say.
func residentMB() int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if rest, ok := strings.CutPrefix(sc.Text(), "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb * 1024 / 1e6
		}
	}
	return 0
}

// cpuTime is what all threads of this process used. On a machine with other work it says more than the clock does.
func cpuTime() time.Duration {
	used, _ := system.ProcessorTime()
	return used
}
