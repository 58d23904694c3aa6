package frontierbench_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bench/frontierbench"
)

var (
	urls  = flag.Int("urls", 20_000, "URLs of the run")
	hosts = flag.Int("hosts", 2_000, "hosts of the run")
)

// go test ./pkg/testkit/bench/frontierbench -v -urls 1000000 -hosts 100000 measures.
func TestEveryURLIsLeasedAndEnds(t *testing.T) {
	var report bytes.Buffer
	if err := frontierbench.Run(context.Background(), t.TempDir(), *urls, *hosts,
		io.MultiWriter(&report, os.Stderr)); err != nil {
		t.Fatal(err)
	}
	if report.Len() == 0 {
		t.Error("no report")
	}
}
