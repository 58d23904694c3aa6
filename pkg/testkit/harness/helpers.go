package harness

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Number reads a size from the environment.
func Number(t testing.TB, name string, standard int) int {
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

// Duration is Number for times.
func Duration(t testing.TB, name string, standard time.Duration) time.Duration {
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

// Check ends the test at an error.
func Check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Until looks again and again, because other processes are concerned, and fails the test when that takes too long.
func Until(t testing.TB, patience time.Duration, what string, done func() bool) {
	t.Helper()
	if !Within(patience, done) {
		t.Fatalf("waited %v for: %s", patience, what)
	}
}

// Within looks until done, for so long at most, and reports whether it was done.
func Within(patience time.Duration, done func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !done(); {
		if now := <-tick.C; now.After(deadline) {
			return false
		}
	}
	return true
}

// Report fails the test for each fault, up to a number that can be read.
func Report(t testing.TB, what string, faults []string) {
	t.Helper()
	slices.Sort(faults)
	for i, f := range faults {
		if i == 20 {
			t.Errorf("%s: and %d more", what, len(faults)-i)
			return
		}
		t.Errorf("%s: %s", what, f)
	}
}

// Shut reports whether a queue holds URLs that have their outcomes for the time being: a crawl that has ended leaves
// them there, to be tried again hours later.
func Shut(queue string) bool {
	q, err := crawl.ParseQueueName(queue)
	return err == nil && q.Shut()
}
