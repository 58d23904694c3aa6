//go:build !race

package node_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
)

// The parts of a list of seeds after which the heap is measured.
const firstSeeds, allSeeds = 50_000, 300_000

// mostHeap bounds what the live heap may grow by for each further seed, in bytes. The filter before the URL set takes
// two. The rest is for what happens to be on its way when the heap is measured, up to 5 MB in all. A list of URLs that
// is kept takes 80 and more.
const mostHeap = 24

// A seed costs disk and no memory. The live heap is compared after two parts of a list, while the crawl waits for a
// name server that never answers. Caches are so small that the first part fills them.
func TestSeedsTakeNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads 900,000 seeds")
	}
	fewHosts, manyHosts := func(i int) int { return i % 20 }, func(i int) int { return i }
	for name, tt := range map[string]struct {
		host func(i int) int
		leak bool // the control: something keeps the list
	}{
		"20 hosts":                 {fewHosts, false},
		"a host for each":          {manyHosts, false},
		"20 hosts, all lines kept": {fewHosts, true},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			var kept bytes.Buffer
			opt := silentCrawl(t)
			opt.Stdin = r
			if tt.leak {
				opt.Stdin = io.TeeReader(r, &kept)
			}
			l := runUntilEnd(t, opt)
			before := heapAfterSeeds(t, l, w, 0, firstSeeds, tt.host)
			after := heapAfterSeeds(t, l, w, firstSeeds, allSeeds, tt.host)
			growth := float64(after-before) / (allSeeds - firstSeeds)
			t.Logf("live heap: %d KiB after %d seeds, %d KiB after %d: %.1f bytes a seed", before>>10, firstSeeds, after>>10,
				allSeeds, growth)
			if (growth > mostHeap) != tt.leak {
				t.Errorf("the live heap grew by %.1f bytes a seed; the bound is %d, and the list was kept: %v", growth, mostHeap,
					tt.leak)
			}
			runtime.KeepAlive(&kept)
		})
	}
}

// silentCrawl are the options of a crawl with small caches whose name server never answers.
func silentCrawl(t *testing.T) node.LocalOptions {
	t.Helper()
	dns, err := net.ListenPacket("udp", "127.0.0.1:0") //nolint:noctx // nothing is waited for
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dns.Close() })
	job := crawl.DefaultJob()
	job.ID, job.SeedList, job.MaxPages = "memory", "-", 0
	opt := node.DefaultLocal(filepath.Join(t.TempDir(), "out"), &job, slog.New(slog.DiscardHandler))
	opt.DNS.Server = dns.LocalAddr().String()
	opt.Store.CacheBytes, opt.Store.MemTable = 8<<20, 1<<20
	opt.Node.Frontier.MaxActive, opt.Node.Frontier.MaxHeld = 256, 1024
	opt.Node.SetWindow(16)
	return opt
}

// runUntilEnd runs a crawl until the test ends.
func runUntilEnd(t *testing.T, opt node.LocalOptions) *node.Local {
	t.Helper()
	l, err := node.OpenLocal(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := l.Crawl(ctx)
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// heapAfterSeeds writes the seeds from one number to another, waits until they are claimed, and returns the live heap.
func heapAfterSeeds(t *testing.T, l *node.Local, w io.Writer, from, to int, host func(i int) int) int64 {
	t.Helper()
	out := bufio.NewWriter(w)
	for i := from; i < to; i++ {
		fmt.Fprintf(out, "http://h%d.example/section/page-%d.html\n", host(i), i)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Minute); ; <-tick.C {
		s, _, err := l.Seeds()
		if err != nil {
			t.Fatal(err)
		}
		if s.Seeds == to && l.Frontier().Stats().Queued >= int64(to) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d seeds are read, %+v", s.Seeds, to, l.Frontier().Stats())
		}
	}
	return liveHeap()
}

// liveHeap returns what lives on the heap without what compactions and flushes hold for a while: the least of what is
// seen for two seconds.
func liveHeap() int64 {
	least := int64(math.MaxInt64)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 40 {
		var m runtime.MemStats
		runtime.GC() // twice: the first moves what pools hold, the second frees it
		runtime.GC()
		runtime.ReadMemStats(&m)
		least = min(least, int64(m.HeapAlloc)) //nolint:gosec // a heap is smaller
		<-tick.C
	}
	return least
}
