//go:build unix

package warc_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/warc"
)

// These tests run parts of themselves in a process of its own, told by this variable what to do and where.
const childVar, dirVar = "WARC_TEST_CHILD", "WARC_TEST_DIR"

// child prepares a run of the named test in another process.
func child(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), childVar+"="+t.Name(), dirVar+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

func isChild(t *testing.T) bool { return os.Getenv(childVar) == t.Name() }

func TestKilledProcessLosesNothingItWrote(t *testing.T) {
	if isChild(t) {
		writeForEver(t, os.Getenv(dirVar))
	}
	dir := t.TempDir()
	cmd := child(t, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var last int
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
		if last == 200 {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := open(t, dir, warc.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	if sum := wantFlawless(t, only(t, dir)); sum.ByType["response"] < 200 {
		t.Errorf("%d responses left of at least 200", sum.ByType["response"])
	}
}

// writeForEver prints the number of each exchange that was written.
func writeForEver(t *testing.T, dir string) {
	w := open(t, dir, warc.Options{})
	for i := 1; ; i++ {
		if err := w.Write(t.Context(), page(t, i)); err != nil {
			t.Fatal(err)
		}
		fmt.Println(i)
	}
}

func TestFullDiskLeavesNoHalfRecord(t *testing.T) {
	if isChild(t) {
		fillDisk(t, os.Getenv(dirVar))
		return
	}
	dir := t.TempDir()
	if out, err := child(t, dir).Output(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if sum := wantFlawless(t, only(t, dir)); sum.ByType["response"] < 2 {
		t.Errorf("records: %v", sum.ByType)
	}
}

// fillDisk writes until a limit on the file's size stops it in the middle of a record, then once more without the
// limit.
func fillDisk(t *testing.T, dir string) {
	signal.Ignore(syscall.SIGXFSZ) // the write fails instead
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 10_001, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir, warc.Options{})
	var failed error
	for i := 0; i < 100 && failed == nil; i++ {
		failed = w.Write(t.Context(), page(t, i))
	}
	if failed == nil {
		t.Fatal("the limit stopped nothing")
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), page(t, 1000)); err != nil {
		t.Fatalf("after room was made: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
