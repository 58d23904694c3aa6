package report

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// The kernel takes connections for a process that is stopped: who asks it would wait for ever.
func TestASuspendedCrawlIsNotWaitedFor(t *testing.T) {
	const dirVar = "REPORT_TEST_DIR"
	if dir := os.Getenv(dirVar); dir != "" {
		if _, _, err := listen(dir); err != nil {
			t.Fatal(err)
		}
		fmt.Println("listening")
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		select {} // until it is killed
	}
	dir := crawlDirectory(t, "crawl")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), dirVar+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if lines := bufio.NewScanner(out); !lines.Scan() || lines.Text() != "listening" {
		t.Fatalf("the other process says %q", lines.Text())
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("it does not stop: %v, %v", status, err)
	}
	_, err = Dial(t.Context(), dir)
	if err == nil || errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "suspended") ||
		!strings.Contains(err.Error(), fmt.Sprintf("kill -CONT %d", cmd.Process.Pid)) {
		t.Errorf("Dial of a suspended process: %v", err)
	}
}
