package e2e_test

import (
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e"
)

// readResults reads what a crawl left in its directory.
func readResults(t *testing.T, dir string) *e2e.Results {
	t.Helper()
	r, err := e2e.ReadDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func eachLine(t *testing.T, file string, use func(line []byte) error) {
	t.Helper()
	if err := e2e.EachLine(file, use); err != nil {
		t.Fatal(err)
	}
}

// report fails the test for each fault, up to a number that can be read.
func report(t *testing.T, what string, faults []string) {
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
