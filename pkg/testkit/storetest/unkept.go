package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// UnkeptLedger is why pages have no record, with the ledger of the same store.
type UnkeptLedger struct {
	crawl.Unkept
	Ledger LedgerSet
}

// Unkept checks the promises of crawl.Unkept. again opens the store once more, and may close the first.
func Unkept(t *testing.T, open func(t *testing.T) (u UnkeptLedger, again func() UnkeptLedger)) {
	ctx := context.Background()
	t.Run("of several notes the last counts, each key is answered in its place", func(t *testing.T) {
		s, again := open(t)
		u := urls(t, "http://a.test/1", "http://a.test/2", "http://b.test/3")
		check(t, s.Note(ctx, job, u[0], crawl.ReasonMediaType))
		check(t, s.Note(ctx, job, u[0], crawl.ReasonNoIndex))
		check(t, s.Note(ctx, job, u[2], crawl.ReasonMediaType))
		check(t, s.Note(ctx, job, u[2], crawl.ReasonMediaType))
		wantReasons(t, s, job, u, crawl.ReasonNoIndex, "", crawl.ReasonMediaType)
		wantReasons(t, s, job, []weburl.URL{u[2], u[0], u[2]}, crawl.ReasonMediaType, crawl.ReasonNoIndex,
			crawl.ReasonMediaType)
		wantReasons(t, s, job, nil)
		wantReasons(t, again(), job, u, crawl.ReasonNoIndex, "", crawl.ReasonMediaType)
	})
	t.Run("jobs are apart", func(t *testing.T) {
		s, _ := open(t)
		u := urls(t, "http://a.test/1")
		check(t, s.Note(ctx, job, u[0], crawl.ReasonNoIndex))
		check(t, s.Note(ctx, "another", u[0], crawl.ReasonMediaType))
		wantReasons(t, s, job, u, crawl.ReasonNoIndex)
		wantReasons(t, s, "another", u, crawl.ReasonMediaType)
		wantReasons(t, s, "nobody knows it", u, "")
	})
	t.Run("a reason outlasts what the ledger is told", func(t *testing.T) { unkeptBesideLedger(t, open) })
	t.Run("no reason is none", func(t *testing.T) {
		s, _ := open(t)
		u := urls(t, "http://a.test/1")
		if err := s.Note(ctx, job, u[0], ""); !crawl.IsPermanent(err) {
			t.Errorf("error %v, want a permanent one", err)
		}
		wantReasons(t, s, job, u, "")
	})
	t.Run("200 notes at once are all there", func(t *testing.T) {
		s, _ := open(t)
		manyNotes(t, s)
	})
}

func manyNotes(t *testing.T, s crawl.Unkept) {
	u := manyURLs(t, 100, 3)
	want := make([]string, len(u))
	var wg sync.WaitGroup
	for i := range 200 {
		want[i%100] = fmt.Sprint("reason-", i%100)
		wg.Go(func() {
			if err := s.Note(context.Background(), job, u[i%100], fmt.Sprint("reason-", i%100)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantReasons(t, s, job, u, want...)
}

// unkeptBesideLedger lets outcome and reason come in either order, and again.
func unkeptBesideLedger(t *testing.T, open func(t *testing.T) (UnkeptLedger, func() UnkeptLedger)) {
	ctx := context.Background()
	s, _ := open(t)
	u := urls(t, "http://a.test/first", "http://a.test/after")
	wantClaims(t, s.Ledger, "one", u, claims(crawl.New, crawl.New))
	check(t, s.Note(ctx, job, u[0], crawl.ReasonNoIndex))
	check(t, s.Ledger.Finish(ctx, job, done(u[0], 200), done(u[1], 200)))
	check(t, s.Note(ctx, job, u[1], crawl.ReasonNoIndex))
	check(t, s.Ledger.Finish(ctx, job, done(u[0], 200), done(u[1], 200)))
	check(t, s.Ledger.Reopen(ctx, job, u[1].Key()))
	wantReasons(t, s, job, u, crawl.ReasonNoIndex, crawl.ReasonNoIndex)
	for i, want := range []crawl.State{crawl.StateDone, crawl.StateOpen} {
		if got := lookup(t, s.Ledger, u[i])[0]; got.State != want || got.Reason != "" {
			t.Errorf("the ledger says %+v of %s, want state %v and no reason", got, u[i], want)
		}
	}
}

func wantReasons(t *testing.T, s crawl.Unkept, job crawl.JobID, u []weburl.URL, want ...string) {
	t.Helper()
	keys := make([]weburl.Key, len(u))
	for i := range u {
		keys[i] = u[i].Key()
	}
	got, err := s.Reasons(context.Background(), job, keys...)
	check(t, err)
	if !slices.Equal(got, want) {
		t.Errorf("job %s: got %q, want %q", job, got, want)
	}
}
