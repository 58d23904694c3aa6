package harness

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// The work by which a machine is measured: a number of steps for each of two threads, and the time they take on the
// machine for which the timeouts were chosen. That has two processors, which also run other packages' tests; alone it
// needs 100 ms.
const (
	steps = 40_000_000
	usual = 150 * time.Millisecond
)

// Slowness returns how many times slower this machine is now, with everything else it runs, than the machine for which
// the tests' timeouts were chosen: 1 or more. Tests multiply their timeouts by it, so that a failure means a fault and
// not a busy machine.
func Slowness(t testing.TB) float64 {
	t.Helper()
	began := time.Now()
	var work sync.WaitGroup
	for range 2 {
		work.Go(spin)
	}
	work.Wait()
	slowness := max(1, float64(time.Since(began))/float64(usual))
	if slowness >= 1.5 {
		t.Logf("this machine is %.1f times slower than the one that the tests' times were made for", slowness)
	}
	return slowness
}

// Times returns a time as often as slowness says.
func Times(slowness float64, d time.Duration) time.Duration {
	return time.Duration(slowness * float64(d))
}

// mostPaced is how many times longer Paced makes a time at most.
const mostPaced = 6

// Paced is Times for times that the crawl of a test waits itself, which add up, and not for bounds of what it may take:
// a machine that is slow for the moment in which it is measured must not make a crawl outlast the test.
func Paced(slowness float64, d time.Duration) time.Duration {
	return Times(min(slowness, mostPaced), d)
}

// spin does the work. Nothing of it can be left out, because each step needs the last.
func spin() {
	x := uint64(time.Now().UnixNano()) | 1
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	runtime.KeepAlive(&x)
}
