package harness

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// The work by which a machine is measured: so many steps for each of two threads, which take so long on the machine
// that the tests' times were made for. It has two processors, on which other packages' tests run, too; alone it needs
// 100 ms.
const (
	steps = 40_000_000
	usual = 150 * time.Millisecond
)

// Slowness measures how many times longer things take on this machine, with all that it does besides, than on the one
// that the tests' times were made for: 1 or more. Times that a test gives to others follow it, so that a failure
// means a fault and not a busy machine.
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
