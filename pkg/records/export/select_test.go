package export_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
)

// What a policy selected is one cell of JSON in CSV, and no spreadsheet runs it.
func TestSelectedObjectsAreJSONInCSV(t *testing.T) {
	got := run(t, typedLines(t), export.Options{Format: export.CSV, Columns: []string{"status", "field.found"}})
	want := "status,field.found\n0,\"[{\"\"pay\"\":2.5,\"\"title\"\":\"\"=x\"\"},{\"\"tags\"\":[\"\"a\"\"]}]\"\n0,\n0,\n"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
