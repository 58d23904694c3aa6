package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// NeedBrowser skips a test where there is no browser, unless WHIRLPOOL_TEST_BROWSER says that there must be one.
func NeedBrowser(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("WHIRLPOOL_TEST_BROWSER") == "required" {
			t.Fatal("there is no chromium: deploy/studio/need installs it")
		}
		t.Skip("there is no chromium: deploy/studio/need installs it")
	}
}

// PID is the number of the program's process in its present life, which may be over.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// HasBrowser reports whether a process has started a browser.
func HasBrowser(parent int) bool { return len(browsersOf(parent)) > 0 }

// KillBrowsers kills the browsers that a process has started, and returns how many there were.
func KillBrowsers(parent int) (n int) {
	for _, pid := range browsersOf(parent) {
		if p, err := os.FindProcess(pid); err == nil && p.Kill() == nil {
			n++
		}
	}
	return n
}

// LostBrowsers are the browsers of this machine whose parent is gone: what started them is dead, and has not ended
// them. It gives the kernel so much time to end them.
func LostBrowsers(patience time.Duration) (left []int) {
	Within(patience, func() bool {
		left = browsersOf(1)
		return len(left) == 0
	})
	return left
}

// browsersOf are the processes that a process has started whose names begin as a Chromium's does. Its crash handlers do
// not count: they leave their parent at once, and end with their browser.
func browsersOf(parent int) (out []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil { // it has ended
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		rest := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		if len(rest) < 2 || rest[1] != strconv.Itoa(parent) {
			continue
		}
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil &&
			strings.HasPrefix(string(name), "chrom") && !strings.HasPrefix(string(name), "chrome_crash") {
			out = append(out, pid)
		}
	}
	return out
}
