package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Complete rows are deleted after some time, rows that nobody completed after a day, and rows of pages that are still
// awaited never.
func TestRowsOfFollowedPagesAreDeleted(t *testing.T) {
	s, ctx := open(t), context.Background()
	url, f := sharedDatabase(t), s.Following()
	u := manyURLs(t, 0, 40, 5)
	check(t, f.Expect(ctx, storetest.Tasks(job, u...)...))
	for _, page := range u[:30] {
		check(t, f.Claimed(ctx, job, page, crawl.Share{Of: 1}))
	}
	check(t, f.Claimed(ctx, job, u[30], crawl.Share{Of: 2}))
	check(t, f.Claimed(ctx, job, mustParse(t, "http://stray.test/"), crawl.Share{Of: 1}))
	check(t, f.Claimed(ctx, job, u[0], crawl.Share{Epoch: 1, Of: 2})) // begun anew: somebody waits again
	rows := func(want int64) {
		t.Helper()
		if n := ask[int64](t, url, "SELECT count(*) FROM following"); n != want {
			t.Errorf("%d rows, want %d", n, want)
		}
	}
	rows(41)
	if n := f.RemoveRetired(ctx); n != 30 {
		t.Errorf("%d rows were retired, want 30", n)
	}
	rows(12)
	n, err := f.Waiting(ctx, job)
	check(t, err)
	if n != 11 {
		t.Errorf("%d pages wait, want 11", n)
	}
	check(t, f.Claimed(ctx, job, u[31], crawl.Share{Of: 1}))
	none := func(crawl.Task) error { return nil }
	check(t, f.Unfollowed(ctx, weburl.AllKeys(), time.Now(), none))
	rows(12)
	execute(t, url, "UPDATE following SET changed = changed - interval '25 hours'")
	check(t, f.Unfollowed(ctx, weburl.AllKeys(), time.Now(), none))
	rows(10) // without the stray share, and the whole page whose program ended
}
