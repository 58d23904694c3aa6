package e2e_test

import (
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
