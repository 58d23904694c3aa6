package nodes_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/servicetest"
)

// programs is the directory of the real programs, built once, and without the race detector: their own tests run with it.
var programs string

// homeVariable tells the second life of the tests, in namespaces, where everything is.
const homeVariable = "WHIRLPOOL_E2E_HOME"

func TestMain(m *testing.M) {
	if fault := os.Getenv(faultVariable); fault != "" {
		os.Exit(runBroken(fault, os.Args[1:]))
	}
	flag.Parse()
	if testing.Short() || os.Getenv("WHIRLPOOL_TEST_SERVICES") == "" {
		os.Exit(m.Run()) // they are skipped
	}
	os.Exit(runTests(m))
}

// runTests runs the tests in namespaces where that is possible.
func runTests(m *testing.M) int {
	home := os.Getenv(homeVariable)
	if home != "" {
		if err := enterSpace(); err != nil {
			return failed(err)
		}
		programs, shared.dir = filepath.Join(home, "bin"), filepath.Join(home, "services")
		return m.Run()
	}
	home, err := os.MkdirTemp("", "whirlpool-e2e-") // in /tmp: PostgreSQL's user must be able to enter it
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(home)
	programs, shared.dir = filepath.Join(home, "bin"), filepath.Join(home, "services")
	if err := errors.Join(os.Chmod(home, 0o711), build()); err != nil {
		return failed(err)
	}
	if noSpace = canMakeSpace(); noSpace == nil {
		if err := prepare(home); err != nil {
			return failed(err)
		}
		return inSpace(home)
	}
	code := m.Run()
	if err := shared.remove(); err != nil {
		return failed(err)
	}
	return code
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// build builds the programs, before there is no network any more.
func build() error {
	args := []string{"build", "-o", programs + "/", "../.."}
	for _, name := range names {
		args = append(args, "../../../"+name)
	}
	if err := os.MkdirAll(programs, 0o755); err != nil {
		return err
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
}

// long skips a test in short mode, and where the real services are not wanted.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("crawls with whole nodes")
	}
	servicetest.AMQP(t) // says whether; the tests have services of their own
}

// number reads a size from the environment.
func number(t *testing.T, name string, standard int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: want a number of at least 1", name, text)
	}
	return n
}

// check ends the test at an error.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until looks again and again, because other processes are concerned, and fails the test when that takes too long.
func until(t *testing.T, patience time.Duration, what string, done func() bool) {
	t.Helper()
	if !within(patience, done) {
		t.Fatalf("waited %v for: %s", patience, what)
	}
}

// within looks until done, for so long at most, and reports whether it was done.
func within(patience time.Duration, done func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !done(); {
		if now := <-tick.C; now.After(deadline) {
			return false
		}
	}
	return true
}
