package local

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A filter that forgot a URL would let it be claimed, and fetched, twice.
func TestTheFilterOfAReopenedStoreKnowsEveryURL(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	var urls []weburl.URL
	for i := range 3000 {
		urls = append(urls, mustURL(t, fmt.Sprintf("http://host%d.test/%d", i%7, i)))
	}
	claim := func(s *Store, by byte, urls []weburl.URL, want crawl.Claimed) {
		t.Helper()
		got, err := s.URLs().Claim(ctx, testJob, crawl.MessageID{by}, storetest.Tasks(testJob, urls...))
		must(t, err)
		for i := range got {
			if got[i] != want {
				t.Fatalf("%s: got %v, want %v", urls[i], got[i], want)
			}
		}
	}
	s := openStore(t, dir)
	claim(s, 1, urls[:1000], crawl.New)
	finish := crawl.Entry{Key: urls[2000].Key(), State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 200,
		First: true}
	must(t, s.URLs().Finish(ctx, testJob, finish)) // against the contract: nobody claimed it
	claim(s, 2, urls[2000:2001], crawl.Known)
	closeStore(t, s)

	s = openStore(t, dir)
	claim(s, 3, urls[1000:1500], crawl.New) // perhaps before the filter is full
	for deadline := time.Now().Add(10 * time.Minute); !s.urls.filter.complete.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the filter was not filled")
		}
	}
	claim(s, 4, urls[:1500], crawl.Known)
	claim(s, 5, urls[2000:2001], crawl.Known)
	claim(s, 6, urls[1500:2000], crawl.New)
	k := makeURLKey(1, urls[2500].Key())
	if s.urls.filter.mayHave(k.hash()) {
		t.Error("the filter is full and does not know a URL that is new")
	}
}
