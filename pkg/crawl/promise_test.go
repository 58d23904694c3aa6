package crawl_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestRanks(t *testing.T) {
	of := func(p float64) *crawl.Task { return &crawl.Task{Relevance: crawl.RelevanceOf(p), Priority: 1} }
	plain := func(priority int) *crawl.Task { return &crawl.Task{Priority: priority} }
	for i, order := range [][2]*crawl.Task{ // the first is to come before the second
		{of(0.9), of(0.5)}, {of(0.5), of(0.2)}, {of(0.1), of(0.05)}, {of(0.02), of(0.01)}, {of(0.01), of(0.004)},
		{of(0.1), plain(2)}, {plain(2), of(0.01)}, {plain(0), of(0.01)}, {plain(3), of(1)}, {plain(5), plain(4)},
		{plain(2), plain(1)}, {&crawl.Task{Relevance: crawl.RelevanceOf(0), Promise: crawl.RelevanceOf(0.8)}, of(0.5)},
		{&crawl.Task{Kind: crawl.KindSitemap, Priority: 4, Relevance: crawl.RelevanceOf(0.01)}, of(0.9)},
	} {
		if a, b := order[0].Rank(), order[1].Rank(); a <= b {
			t.Errorf("case %d: ranks %d and %d", i, a, b)
		}
	}
	seen := map[int]int{}
	for _, task := range []*crawl.Task{of(0), of(0.001), of(0.05), of(0.5), of(0.99), of(1), plain(0), plain(1), plain(2),
		plain(3), plain(4), plain(5), plain(9)} {
		n := task.FrontNumber()
		if n < crawl.MinPriority || n > crawl.MaxFront {
			t.Errorf("%+v: front queue %d", task, n)
		}
		if rank, known := seen[n]; known && rank != task.Rank() && task.Priority != 0 {
			t.Errorf("%+v: rank %d, and others of its queue have %d", task, task.Rank(), rank)
		}
		seen[n] = crawl.RankOfFront(n)
	}
}

func TestLevels(t *testing.T) {
	for level := range crawl.Levels {
		// thousandths tell the lowest apart no more
		if got := crawl.RelevanceOfLevel(level).Level(); got != level && level > 4 {
			t.Errorf("the middle of level %d is of level %d", level, got)
		}
	}
	for p := crawl.RelevanceOf(0); p < crawl.RelevanceOf(1); p++ {
		if p.Level() > (p + 1).Level() {
			t.Fatalf("P %v is of a higher level than %v", p, p+1)
		}
	}
}
