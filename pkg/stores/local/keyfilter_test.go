package local

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A filter that forgot a record would let it be stored twice; one that forgot content, let a copy pass for an original.
func TestTheFilterOfAReopenedStoreKnowsWhatIsStored(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	claim := func(s *Store, from, to, shift int, want crawl.Sameness) {
		t.Helper()
		for i := from; i < to; i++ {
			fp := crawl.Fingerprint{Job: testJob, URL: mustURL(t, fmt.Sprintf("http://a.test/c%d", i+shift)),
				Digest: crawl.Digest{byte(i), byte(i >> 8), 1}, Simhash: uint64(i)}
			got, err := s.ContentSet().Claim(ctx, fp, -1, nil)
			must(t, err)
			if got.Sameness != want {
				t.Fatalf("%s is %v, want %v", fp.URL, got.Sameness, want)
			}
		}
	}
	s := openStore(t, dir)
	putPages(t, s.Pages(), 0, 500)
	claim(s, 0, 500, 0, crawl.Original)
	claim(s, 0, 500, 1000, crawl.ExactCopy)
	closeStore(t, s)

	s = openStore(t, dir)
	putPages(t, s.Pages(), 250, 750) // perhaps before the filter is full
	claim(s, 250, 500, 2000, crawl.ExactCopy)
	claim(s, 500, 750, 0, crawl.Original)
	for deadline := time.Now().Add(10 * time.Minute); !s.stored.complete.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the filter was not filled")
		}
	}
	putPages(t, s.Pages(), 0, 1000)
	claim(s, 0, 750, 3000, crawl.ExactCopy)
	claim(s, 0, 500, 1000, crawl.ExactCopy) // asked again
	if got := len(records(t, s.Pages())); got != 1000 {
		t.Errorf("%d records, want 1000", got)
	}
	if key := s.pages.key(mustURL(t, "http://a.test/none").Key()); !s.stored.absent(key) {
		t.Error("the filter is full and does not know a record that is new")
	}
	closeStore(t, s)
}
