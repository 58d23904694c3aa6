package localbench

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"
)

var size = flag.Int64("n", 20_000, "URLs of the measurements")

func TestMeasurementsRun(t *testing.T) {
	var out strings.Builder
	if err := URLSet(context.Background(), t.TempDir(), *size, &out); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "RSS MB") != 2 || !strings.Contains(out.String(), "reproduce: ") {
		t.Errorf("no tables: %s", out.String())
	}
	_, _ = os.Stdout.WriteString(out.String())
}
