package nodes_test

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

// programs is the directory of the real programs, built once, before there is no network any more.
var programs string

// homeVariable tells the second life of the tests, in namespaces, where everything is.
const homeVariable = "WHIRLPOOL_E2E_HOME"

func TestMain(m *testing.M) {
	if fault := os.Getenv(faultVariable); fault != "" {
		os.Exit(runBroken(fault, os.Args[1:]))
	}
	if code, ok := crawltest.RunCalendar(os.Args[1:]); ok {
		os.Exit(code)
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
	if err := errors.Join(os.Chmod(home, 0o711), harness.Build(programs, "../../..")); err != nil {
		return failed(err)
	}
	if errNoSpace = canMakeSpace(); errNoSpace == nil {
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

// long skips a test in short mode, and where the real services are not wanted.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("crawls with whole nodes")
	}
	servicetest.AMQP(t) // says whether; the tests have services of their own
}

// What the end-to-end tests of all packages do, by short names.
var check, until, within, report = harness.Check, harness.Until, harness.Within, harness.Report

// world is a synthetic web being served, and what one machine found in it undisturbed.
type world = crawltest.World

const patience = crawltest.Patience
