package harness

import "testing"

// Raceless skips a test under the race detector, which makes it five to ten times slower and finds next to nothing in
// it: its work is done by copies of the test program that handle one thing at a time, or are killed before they could
// tell. `make test` runs it without (RACELESS in the Makefile; pkg/raceless_test.go sees to it).
func Raceless(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("it runs without the race detector: make test-plain")
	}
}
