//go:build !race

package node_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// manyPages writes the records of a crawl: of every second the status is 200. One is damaged, one is replaced, and the
// last is torn.
func manyPages(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	f, err := os.Create(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(f)
	var line []byte
	for i := range n {
		u, err := weburl.Parse(fmt.Sprintf("http://h%d.example/section/page-%d.html", i%20, i))
		if err != nil {
			t.Fatal(err)
		}
		line = jsonl.AppendRecord(line[:0], &crawl.Record{URL: u, FinalURL: u, Status: 200 + i%2})
		switch i {
		case 1000:
			line = []byte("{\"url\":\"damaged\n")
		case 1002:
			record, replaced := jsonl.Mark()
			line = append(slices.Clone(replaced), line[len(record):]...)
		}
		_, _ = out.Write(line) // its error stays
	}
	_, _ = out.WriteString(`{"url":"http://torn.exa`)
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// heapAfterPages reads the seeds of so many pages, and returns the live heap when they are queued.
func heapAfterPages(t *testing.T, n int) (heap int64) {
	t.Helper()
	t.Run(fmt.Sprint(n, " pages"), func(t *testing.T) {
		opt := silentCrawl(t)
		opt.Job.SeedList = ""
		opt.Job.Pipeline.Nodes = []crawl.PluginNode{nodeOf("old", crawl.AtProvider, "builtin/pages@1",
			crawl.Settings{"dir": manyPages(t, n), "status": []any{200.0}})}
		l := runUntilEnd(t, opt)
		waitEnds(t, "all are read", func() bool {
			s, err := l.Provided()
			if err != nil || len(s) == 1 && s[0].Ended && (s[0].Seeds != n/2-2 || s[0].Bad != 1) {
				t.Fatalf("%+v, %v: want %d seeds and one line that is bad", s, err, n/2-2)
			}
			return len(s) == 1 && s[0].Ended && l.Frontier().Stats().Queued >= int64(n/2-2)
		})
		heap = liveHeap()
	})
	return heap
}

// Pages of another crawl cost no memory however many there are, and damage among them is told.
func TestPagesOfAnotherCrawlTakeNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes 400,000 records")
	}
	few, many := 100_000, 300_000
	before, after := heapAfterPages(t, few), heapAfterPages(t, many)
	growth := float64(after-before) / float64((many-few)/2)
	t.Logf("live heap: %d KiB after %d seeds, %d KiB after %d: %.1f bytes a seed", before>>10, few/2, after>>10, many/2,
		growth)
	if growth > mostHeap {
		t.Errorf("the live heap grew by %.1f bytes a seed; the bound is %d", growth, mostHeap)
	}
}
