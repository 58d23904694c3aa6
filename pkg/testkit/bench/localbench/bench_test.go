package localbench

import (
	"context"
	"flag"
	"io"
	"strings"
	"testing"
)

var size = flag.Int64("n", 5_000, "URLs of the measurements")

func TestMeasurementsRun(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(w io.Writer) error
		rows string
		want int
	}{
		"url set": {func(w io.Writer) error { return URLSet(context.Background(), t.TempDir(), *size, w) }, "RSS MB", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			must(t, c.run(&out))
			if strings.Count(out.String(), c.rows) != c.want || !strings.Contains(out.String(), "reproduce: ") {
				t.Errorf("no table: %s", out.String())
			}
			t.Log("\n" + out.String())
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
