package servicetest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// guarding is the variable that has this test program guard a directory, and wait to be killed.
const guarding = "WHIRLPOOL_TEST_GUARDING"

func TestMain(m *testing.M) {
	if root := os.Getenv(guarding); root != "" {
		if _, err := Guard(filepath.Join(root, "services"), root); err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString("guarded\n")
		select {}
	}
	os.Exit(m.Run())
}

func TestWhatIsGuardedIsRemovedAfterAKill(t *testing.T) {
	root := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), guarding+"="+root)
	out, err := cmd.StdoutPipe()
	harness.Check(t, err)
	harness.Check(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	harness.Check(t, err)
	if _, err := os.Stat(root); err != nil || line != "guarded\n" {
		t.Fatalf("before the kill: %v, it says %q", err, line)
	}
	harness.Check(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	harness.Until(t, time.Minute, "the directory is removed",
		func() bool { _, err := os.Stat(root); return os.IsNotExist(err) })
}

func TestWhatIsGuardedIsRemovedWhenAsked(t *testing.T) {
	root := t.TempDir()
	remove, err := Guard(filepath.Join(root, "services"), root)
	harness.Check(t, err)
	harness.Check(t, remove())
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
}
