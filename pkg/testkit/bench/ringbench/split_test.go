package ringbench

import (
	"fmt"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/stages/hostsplitter"
)

// What the host splitter takes for a page of 40 links, on clusters of several sizes: -count several, and the least of
// each, for machines drift.
func BenchmarkSplit(b *testing.B) {
	cfg := Default()
	cfg.Hosts, cfg.URLs = 20_000, 1_000_000
	web := newWeb(cfg)
	for _, others := range []int{5, links} {
		pages, err := web.pages(others)
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1, 10, 100, 1000} {
			t, err := web.build(n)
			if err != nil {
				b.Fatal(err)
			}
			h := hostsplitter.New(routerOf(t), nil)
			b.Run(fmt.Sprintf("hosts=%d/nodes=%d", others, n), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					if _, err := h.Handle(b.Context(), pages[i%len(pages)]); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*links), "ns/URL")
			})
		}
	}
}
