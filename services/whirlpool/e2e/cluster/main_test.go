package cluster_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// programs is the directory of the real programs, built once.
var programs string

func TestMain(m *testing.M) {
	if fault := os.Getenv(faultVariable); fault != "" {
		os.Exit(runBroken(fault, os.Args[1:]))
	}
	if code, ok := crawltest.RunCalendar(os.Args[1:]); ok {
		os.Exit(code)
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

// long skips a test in short mode, and where the real services are not wanted.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("crawls with whole processes")
	}
	servicetest.AMQP(t) // says whether; the tests kill services, so they start their own
}

// What the end-to-end tests of all packages do, by short names.
var check, until, within, report = harness.Check, harness.Until, harness.Within, harness.Report

// world is a synthetic web being served, and what one machine found in it undisturbed.
type world = crawltest.World

const patience = crawltest.Patience
