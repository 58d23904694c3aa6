package e2e_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// program is the real binary, built once. It is built without the race detector whatever the tests are: the detector
// slows a crawl about tenfold, which would hide the races between a kill and the stores, and the packages' own tests
// run with it.
var program string

func TestMain(m *testing.M) {
	if fault := os.Getenv(faultVariable); fault != "" {
		os.Exit(runBroken(fault))
	}
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	if testing.Short() {
		return m.Run() // every test says that it is skipped
	}
	dir, err := os.MkdirTemp("", "whirlpool-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "whirlpool.exe")
	if err := harness.BuildOne(program, ".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := widen(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// widen lets more tests run at once than there are processors, unless -parallel says otherwise: the parallel ones
// mostly wait for delays.
func widen() error {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", "16")
}

// long skips a test in short mode.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("crawls with whole processes")
	}
}
