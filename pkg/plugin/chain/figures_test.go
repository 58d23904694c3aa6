package chain_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
)

// Of many jobs, those tell of their figures that plug-ins were called for last.
func TestFiguresOfTheJobsAtWork(t *testing.T) {
	b := newBench()
	b.source.add("x/t@1", setTitle("T"))
	run := func(id crawl.JobID) {
		t.Helper()
		j := jobOf(crawl.PluginNode{ID: "t", At: crawl.AtDocument, Use: "x/t@1"})
		j.ID = id
		if _, err := b.Run(t.Context(), j, &plugin.Call{Message: doc()}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.Lately(2); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	for _, id := range []crawl.JobID{"a", "b", "c", "a"} {
		run(id)
	}
	got := b.Lately(2)
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []crawl.JobID{"a", "c"}) || got["a"][0].Calls != 2 ||
		got["c"][0].Calls != 1 {
		t.Errorf("%v; want those of a and c", got)
	}
	if got := b.Lately(10); len(got) != 3 {
		t.Errorf("%v; want all", got)
	}
}

func TestFiguresOfProgramsAreJoined(t *testing.T) {
	until := time.Now()
	one := []chain.Figures{{Node: "b", At: crawl.AtDocument, Use: "x/b@1", Calls: 2, Patched: 1, P50: 2, P95: 9},
		{Node: "b", At: crawl.AtRecord, Use: "x/b@1", Calls: 4}}
	two := []chain.Figures{{Node: "b", At: crawl.AtDocument, Use: "x/b@1", Calls: 3, Dropped: 1, Errors: 2, Skipped: 5,
		Passed: 6, P50: 3, P95: 4, Tripped: until},
		{Node: "a", At: crawl.AtDocument, Use: "x/a@1", Calls: 7}, {Node: "b", At: crawl.AtDocument, Use: "x/b@2", Calls: 8}}
	want := []chain.Figures{{Node: "a", At: crawl.AtDocument, Use: "x/a@1", Calls: 7},
		{Node: "b", At: crawl.AtDocument, Use: "x/b@1", Calls: 5, Patched: 1, Dropped: 1, Errors: 2, Skipped: 5, Passed: 6,
			P50: 3, P95: 9, Tripped: until},
		{Node: "b", At: crawl.AtDocument, Use: "x/b@2", Calls: 8}, {Node: "b", At: crawl.AtRecord, Use: "x/b@1", Calls: 4}}
	if got := chain.Join(one, nil, two); !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if got := chain.Join(); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}
