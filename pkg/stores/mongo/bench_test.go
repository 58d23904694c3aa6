package mongo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// largePage is a record of 30 KB with 40 links.
func largePage(b *testing.B) *crawl.Record {
	r := page(b, 1)
	r.Text = strings.Repeat("It was a bright cold day in April. ", 750)
	r.Links = slices.Repeat(r.Links, 40/len(r.Links))
	return r
}

func BenchmarkEncode(b *testing.B) {
	r := largePage(b)
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(document(r, time.Time{}, maxDocument))))
	}
}

func BenchmarkDecode(b *testing.B) {
	doc := document(largePage(b), time.Now(), maxDocument)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := record(doc); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPut stores pages of 30 KB with 40 links from so many goroutines. cpu-us is the processor time of this
// process for a page; what the server takes comes on top.
func BenchmarkPut(b *testing.B) {
	for _, workers := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			s := open(b)
			r := largePage(b)
			var next atomic.Int64
			before := cpu(b)
			var wg sync.WaitGroup
			b.ResetTimer()
			for range workers {
				wg.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						mine := *r
						mine.URL, _ = weburl.Parse(fmt.Sprintf("http://host%d.test/%d", i%10, i))
						if err := s.Pages().Put(context.Background(), &mine); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "puts/s")
			b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-us/put")
		})
	}
}

// cpu is the processor time that this process has taken.
func cpu(b *testing.B) time.Duration {
	used, ok := system.ProcessorTime()
	if !ok {
		b.Fatal("the processor time is not known")
	}
	return used
}
