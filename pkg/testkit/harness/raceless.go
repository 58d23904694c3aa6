package harness

import "testing"

// Raceless skips a test under the race detector, which makes it five to ten times slower. Its work is done by one
// goroutine, or by copies of the test program, most of which are killed before they could tell of a race; other tests
// do the same in one process, under the detector. `make test` runs it without (RACELESS in the Makefile;
// pkg/raceless_test.go sees to it).
func Raceless(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("it runs without the race detector: make test-alone")
	}
}

// Fewer is how many pages, rounds or the like a test has: n, or a quarter of that, and at least 1, under the race
// detector. `make test` runs the test without it, too, with all n (RACELESS in the Makefile; pkg/raceless_test.go sees
// to it).
func Fewer(n int) int {
	if raced {
		return max(n/4, 1)
	}
	return n
}
