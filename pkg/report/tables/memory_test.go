package tables

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Memory does not grow with the hosts of a crawl. WHIRLPOOL_REPORT_HOSTS sets how many there are (10^6: a minute).
func TestMemoryIsBoundedOverHosts(t *testing.T) {
	hosts := 60_000
	if n, err := strconv.Atoi(os.Getenv("WHIRLPOOL_REPORT_HOSTS")); err == nil {
		hosts = n
	} else {
		spillLimit = 1 << 20
		defer func() { spillLimit = spillBytes }()
	}
	src := source(t, nil)
	src.Open = nil
	src.Lines = func(_ context.Context, each func(*crawl.LogLine) error) error {
		for i := range 2 * hosts {
			l := crawl.LogLine{At: begin.Add(time.Duration(i) * time.Millisecond),
				URL: url(t, fmt.Sprintf("http://host-%d.test/%d", i%hosts, i)), Verdict: crawl.VerdictDone, Status: 200,
				Bytes: 1000, Duration: time.Millisecond, ContentType: "text/html"}
			if err := each(&l); err != nil {
				return err
			}
		}
		return nil
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tables := made(t, src)
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d hosts: %d bytes held, %d from the system, %d files", hosts, held, after.Sys, len(tables.hosts.files))
	if bound := int64(2*spillLimit + 4<<20); held > bound {
		t.Errorf("%d hosts: %d bytes are held, want at most %d", hosts, held, bound)
	}
	if got := written(t, tables, Text, 1,
		Hosts); got[:len(fmt.Sprintf("# hosts: %d", hosts))] != fmt.Sprintf("# hosts: %d", hosts) {
		t.Errorf("%.80s", got)
	}
}
