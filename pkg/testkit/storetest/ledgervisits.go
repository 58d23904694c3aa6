package storetest

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// LedgerVisits checks what crawl.Ledger promises of visits after the first.
func LedgerVisits(t *testing.T, open func(t *testing.T) LedgerSet) {
	t.Run("an outcome of a later visit replaces one of an earlier", func(t *testing.T) { finishVisits(t, open(t)) })
	t.Run("a page stays one whatever later visits find", func(t *testing.T) { finishNoPage(t, open(t)) })
	t.Run("what visits a URL again is kept with its outcome", func(t *testing.T) { keepAgain(t, open(t)) })
}

// visit is the outcome of a visit of a URL, an hour after the one before.
func visit(u weburl.URL, n uint32, v crawl.Verdict, status int) crawl.Entry {
	e := done(u, status)
	e.State, e.Verdict, e.Visit, e.At, e.Attempts = crawl.StateDone, v, n, aTime.Add(time.Duration(n)*time.Hour), 1
	return e
}

func finishVisits(t *testing.T, l LedgerSet) {
	ctx := context.Background()
	u := urls(t, "http://a.test/1")
	wantClaims(t, l, "one", u, claims(crawl.New))
	for _, step := range []struct {
		told, want crawl.Entry
	}{
		{visit(u[0], 0, crawl.VerdictGone, 404), visit(u[0], 0, crawl.VerdictGone, 404)},
		{visit(u[0], 2, crawl.VerdictDone, 200), visit(u[0], 2, crawl.VerdictDone, 200)},
		{visit(u[0], 2, crawl.VerdictDone, 200), visit(u[0], 2, crawl.VerdictDone, 200)},
		{visit(u[0], 1, crawl.VerdictGone, 410), visit(u[0], 2, crawl.VerdictDone, 200)},
		{visit(u[0], 0, crawl.VerdictGone, 404), visit(u[0], 2, crawl.VerdictDone, 200)},
		{visit(u[0], 3, crawl.VerdictDone, 203), visit(u[0], 3, crawl.VerdictDone, 203)},
	} {
		check(t, l.Finish(ctx, job, step.told))
		got := lookup(t, l, u[0])[0]
		if !sameTime(got.At, step.want.At) {
			t.Errorf("after visit %d: time %v, want %v", step.told.Visit, got.At, step.want.At)
		}
		if got.At = step.want.At; got != step.want {
			t.Errorf("after visit %d: %+v, want %+v", step.told.Visit, got, step.want)
		}
	}
	wantTally(t, l, crawl.Tally{Claimed: 1, Pages: 1, Verdicts: map[string]int64{"done": 1},
		Statuses: map[int]int64{203: 1}})
	wantClaims(t, l, "two", u, claims(crawl.Known))
}

func finishNoPage(t *testing.T, l LedgerSet) {
	ctx := context.Background()
	u := urls(t, "http://a.test/1")
	wantClaims(t, l, "one", u, claims(crawl.New))
	for n, e := range []crawl.Entry{visit(u[0], 0, crawl.VerdictDone, 200), visit(u[0], 1, crawl.VerdictDone, 304),
		visit(u[0], 2, crawl.VerdictGone, 404), visit(u[0], 3, crawl.VerdictFailed, 503),
		visit(u[0], 4, crawl.VerdictDone, 301), visit(u[0], 5, crawl.VerdictExcluded, 0)} {
		check(t, l.Finish(ctx, job, e))
		want := visit(u[0], 0, crawl.VerdictDone, 200)
		got := lookup(t, l, u[0])[0]
		if !sameTime(got.At, e.At) || got.Visit != uint32(n) {
			t.Errorf("after visit %d: %+v, want its number and time", n, got)
		}
		if got.At, got.Visit = want.At, 0; got != want {
			t.Errorf("after visit %d: %+v, want %+v", n, got, want)
		}
	}
	wantTally(t, l, crawl.Tally{Claimed: 1, Pages: 1, Verdicts: map[string]int64{"done": 1},
		Statuses: map[int]int64{200: 1}})
}

func keepAgain(t *testing.T, l LedgerSet) {
	ctx := context.Background()
	u := urls(t, "http://a.test/1", "http://a.test/", "http://a.test/from")
	wantClaims(t, l, "one", u[:1], claims(crawl.New))
	again := crawl.Task{Job: job, URL: u[0], Depth: 3, Referrer: u[2], Seed: true}
	kept := again
	kept.Job, kept.URL = "", weburl.URL{}
	want := func(when string, want *crawl.Task, etag string) {
		t.Helper()
		if got := lookup(t, l, u[0])[0]; !reflect.DeepEqual(got.Again, want) || got.Validators.ETag != etag {
			t.Errorf("%s: kept %+v with %q, want %+v with %q", when, got.Again, got.Validators.ETag, want, etag)
		}
	}
	tell := func(n uint32, status int, etag string, again *crawl.Task) {
		e := visit(u[0], n, crawl.VerdictDone, status)
		e.Again, e.Validators.ETag = again, etag
		check(t, l.Finish(ctx, job, e))
	}
	tell(0, 200, "", nil)
	want("before", nil, "")
	tell(0, 200, "", &again)
	want("told with it", &kept, "")
	tell(1, 200, "1", &again)
	want("with a validator", &kept, "1")
	tell(2, 304, "", &again)
	want("not changed", &kept, "1")
	tell(3, 304, "2", &again)
	want("not changed, and named otherwise", &kept, "2")
	tell(4, 200, "", &again)
	want("changed, without a validator", &kept, "")
	check(t, l.Reopen(ctx, job, u[0].Key()))
	want("taken back", nil, "")
}
