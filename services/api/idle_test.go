package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// ticks are how long a second of CPU time is in /proc.
const ticks = 100

// cpuOf is the CPU time that a process has had.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skipf("this system does not tell: %v", err)
	}
	_, rest, _ := strings.Cut(string(data), ") ") // the name before may have spaces
	fields := strings.Fields(rest)
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * time.Second / ticks
}

// A node and the API with nothing to do cost little: WHIRLPOOL_TEST_IDLE says how long they are watched.
func TestIdleProgramsCostLittle(t *testing.T) {
	watched := harness.Duration(t, "WHIRLPOOL_TEST_IDLE", 5*time.Second)
	w := newWorld(t)
	node := w.start("node", "whirlpool", []string{"node"}, nil)
	copied, cl := w.copyOf("one")
	agentWhere(t, cl, "the node is heard of", func(a *api.Agent) bool { return a.State == "idle" })
	most := time.Duration(float64(watched) * 0.1 * harness.Slowness(t)) // a tenth of a core
	for name, p := range map[string]*harness.Process{"node": node, "api": copied} {
		began, before := time.Now(), cpuOf(t, p.PID())
		time.Sleep(watched) // this is what is measured
		used, took := cpuOf(t, p.PID())-before, time.Since(began)
		t.Logf("%s: %.1f ms of CPU time a second, %d MB resident", name, 1000*used.Seconds()/took.Seconds(), p.Memory()>>20)
		if used > most {
			t.Errorf("%s had %v of CPU time in %v with nothing to do", name, used, took)
		}
	}
}
