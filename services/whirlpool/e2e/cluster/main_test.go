package cluster_test

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

// programs is the directory of the real programs, built once. They are built without the race detector whatever the tests are: it
// would hide the races between a kill and the services, and the packages' own tests run with it.
var programs string

func TestMain(m *testing.M) {
	if fault := os.Getenv(faultVariable); fault != "" {
		os.Exit(runBroken(fault, os.Args[1:]))
	}
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "whirlpool-e2e-") // in /tmp: PostgreSQL's user must be able to enter it
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = filepath.Join(dir, "bin")
	shared.dir = filepath.Join(dir, "services")
	code := m.Run()
	if err := errors.Join(os.Chmod(dir, 0o711), shared.remove()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// build builds the programs.
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
		t.Skip("crawls with whole processes")
	}
	servicetest.AMQP(t) // says whether; the tests kill services, so they start their own
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

// duration is number for times.
func duration(t *testing.T, name string, standard time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		t.Fatalf("%s=%q: want a duration", name, text)
	}
	return d
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
