package postgresbench

import (
	"context"
	"flag"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

var sizes = flag.String("sizes", "200,500", "rows of the tables at which is measured, growing")

func TestMeasurementsRun(t *testing.T) {
	server := servicetest.Postgres(t)
	var at []int64
	for s := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, n)
	}
	for name, c := range map[string]struct {
		run   func(ctx context.Context, server string, sizes []int64, w io.Writer) error
		lines int
	}{
		"claims":   {Claims, 4 * len(at)},
		"look-ups": {Lookups, 4 * len(at)},
		"ring":     {Ring, 9 * len(at)},
		"search":   {Search, 4 * len(at)},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := c.run(context.Background(), server, at, &out); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(out.String(), "\n"); got != c.lines+3 || !strings.Contains(out.String(), "reproduce: ") {
				t.Errorf("no table: %s", out.String())
			}
			t.Log("\n" + out.String())
		})
	}
}
