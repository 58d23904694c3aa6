package chain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/chain"
)

func TestFiguresOfProgramsAreJoined(t *testing.T) {
	until := time.Now()
	one := []chain.Figures{{Node: "b", At: crawl.AtDocument, Use: "x/b@1", Calls: 2, Patched: 1, P50: 2, P95: 9},
		{Node: "b", At: crawl.AtRecord, Use: "x/b@1", Calls: 4}}
	two := []chain.Figures{{Node: "b", At: crawl.AtDocument, Use: "x/b@1", Calls: 3, Dropped: 1, Errors: 2, Skipped: 5, Passed: 6, P50: 3, P95: 4, Tripped: until},
		{Node: "a", At: crawl.AtDocument, Use: "x/a@1", Calls: 7}, {Node: "b", At: crawl.AtDocument, Use: "x/b@2", Calls: 8}}
	want := []chain.Figures{{Node: "a", At: crawl.AtDocument, Use: "x/a@1", Calls: 7},
		{Node: "b", At: crawl.AtDocument, Use: "x/b@1", Calls: 5, Patched: 1, Dropped: 1, Errors: 2, Skipped: 5, Passed: 6, P50: 3, P95: 9, Tripped: until},
		{Node: "b", At: crawl.AtDocument, Use: "x/b@2", Calls: 8}, {Node: "b", At: crawl.AtRecord, Use: "x/b@1", Calls: 4}}
	if got := chain.Join(one, nil, two); !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if got := chain.Join(); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}
