package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Spending checks the promises of crawl.Spending. again opens the store once more, and may close the first.
func Spending(t *testing.T, open func(t *testing.T) (s crawl.Spending, again func() crawl.Spending)) {
	ctx, second := context.Background(), time.Second
	want := func(t *testing.T, s crawl.Spending, id crawl.JobID, bytes int64, took time.Duration) {
		t.Helper()
		got, err := s.Spent(ctx, id)
		check(t, err)
		if got != (crawl.Spent{Bytes: bytes, Time: took}) {
			t.Errorf("job %s spent %+v, want %d bytes in %v", id, got, bytes, took)
		}
	}
	spend := func(t *testing.T, s crawl.Spending, id crawl.JobID, bytes int64, at time.Duration) crawl.Spent {
		t.Helper()
		got, err := s.Spend(ctx, id, bytes, aTime.Add(at))
		check(t, err)
		return got
	}
	t.Run("bytes add up, and time while somebody counts", func(t *testing.T) {
		s, again := open(t)
		want(t, s, job, 0, 0)
		spend(t, s, job, 10, 0)
		want(t, s, job, 10, 0)
		if got := spend(t, s, job, 5, 2*second); got != (crawl.Spent{Bytes: 15, Time: 2 * second}) {
			t.Errorf("Spend returns %+v", got)
		}
		spend(t, s, job, 0, second) // another node's clock, or an answer that came late
		want(t, s, job, 15, 2*second)
		spend(t, s, "another", 1<<40, 0)
		s = again()
		want(t, s, job, 15, 2*second)
		want(t, s, "another", 1<<40, 0)
		spend(t, s, job, 1, time.Hour) // it did not run meanwhile
		want(t, s, job, 16, 2*second)
		spend(t, s, job, 0, time.Hour+crawl.SpendGap)
		want(t, s, job, 16, 2*second+crawl.SpendGap)
	})
	t.Run("several count the time once", func(t *testing.T) {
		s, _ := open(t)
		for i := range 10 {
			spend(t, s, job, 1, time.Duration(i)*second)
			spend(t, s, job, 1, time.Duration(i)*second)
		}
		want(t, s, job, 20, 9*second)
	})
}
