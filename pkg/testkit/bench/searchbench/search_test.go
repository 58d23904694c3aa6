package searchbench

import (
	"strings"
	"testing"
)

// The benchmark measures searches that find something, of an index that is whole.
func TestRun(t *testing.T) {
	var out strings.Builder
	stopped := false
	err := Run(t.Context(), Options{Dir: t.TempDir(), Pages: 300, Words: 100, Out: &out,
		Beside: func() (func() error, error) {
			return func() error { stopped = true; return nil }, nil
		}})
	if err != nil || !stopped || strings.Count(out.String(), "50 searches") != 4 ||
		strings.Contains(out.String(), "50 found nothing") {
		t.Errorf("%v\n%s", err, &out)
	}
}
