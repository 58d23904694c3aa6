package storetest

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// LedgerSet is a ledger with the URL set that shares its records.
type LedgerSet interface {
	crawl.Ledger
	crawl.URLSet
}

// Ledger checks the promises of crawl.Ledger. Each subtest gets a ledger of its own.
func Ledger(t *testing.T, open func(t *testing.T) LedgerSet) {
	t.Run("what nobody heard of is unknown", func(t *testing.T) { lookupUnknown(t, open(t)) })
	t.Run("a URL is open, then done", func(t *testing.T) { finishClaimed(t, open(t)) })
	t.Run("an outcome without a claim makes an entry", func(t *testing.T) { finishUnclaimed(t, open(t)) })
	t.Run("an outcome told twice counts once", func(t *testing.T) { finishTwice(t, open(t)) })
	t.Run("a finished URL stays claimed", func(t *testing.T) { claimFinished(t, open(t)) })
	t.Run("a first outcome is recorded like any other", func(t *testing.T) { finishFirst(t, open(t)) })
	t.Run("reopen takes an outcome back", func(t *testing.T) { reopen(t, open(t)) })
	t.Run("validators stay with an outcome until it is taken back", func(t *testing.T) { keepValidators(t, open(t)) })
	t.Run("an exclusion that is claimed leaves the tally of exclusions", func(t *testing.T) { tallyExcluded(t, open(t)) })
	t.Run("only pages count as pages", func(t *testing.T) { tallyPages(t, open(t)) })
	t.Run("a verdict that is not final is refused", func(t *testing.T) { finishRetry(t, open(t)) })
	t.Run("the tally is exact after 200 writers at once", func(t *testing.T) { tallyAtOnce(t, open(t)) })
}

var aTime = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

func lookupUnknown(t *testing.T, l LedgerSet) {
	u := urls(t, "http://a.test/", "http://b.test/")
	for i, e := range lookup(t, l, u...) {
		if e.State != crawl.StateUnknown || e.Key != u[i].Key() {
			t.Errorf("got %+v for key %v", e, u[i].Key())
		}
	}
	wantTally(t, l, crawl.Tally{})
}

func finishClaimed(t *testing.T, l LedgerSet) {
	u := urls(t, "http://a.test/1", "http://a.test/2")
	wantClaims(t, l, "one", u, claims(crawl.New, crawl.New))
	wantTally(t, l, crawl.Tally{Claimed: 2})
	want := crawl.Entry{Key: u[1].Key(), State: crawl.StateDone, Verdict: crawl.VerdictGone, Status: 404, Reason: "status",
		At: aTime, Attempts: 3}
	check(t, l.Finish(context.Background(), job, want))
	got := lookup(t, l, u...)
	if got[0].State != crawl.StateOpen {
		t.Errorf("unfinished URL: got state %v, want open", got[0].State)
	}
	if !sameTime(got[1].At, aTime) {
		t.Errorf("time of the outcome: got %v, want %v", got[1].At, aTime)
	}
	if got[1].At = want.At; got[1] != want {
		t.Errorf("got %+v, want %+v", got[1], want)
	}
	wantTally(t, l, crawl.Tally{Claimed: 2, Verdicts: map[string]int64{"gone": 1}, Statuses: map[int]int64{404: 1}})
}

func finishUnclaimed(t *testing.T, l LedgerSet) {
	u := urls(t, "http://a.test/robots.txt")
	check(t, l.Finish(context.Background(), job, done(u[0], 200)))
	if got := lookup(t, l, u[0])[0]; got.State != crawl.StateDone || got.Status != 200 {
		t.Errorf("got %+v, want done with 200", got)
	}
	wantTally(t, l, crawl.Tally{Claimed: 1, Pages: 1, Verdicts: map[string]int64{"done": 1},
		Statuses: map[int]int64{200: 1}})
}

func finishTwice(t *testing.T, l LedgerSet) {
	u := urls(t, "http://a.test/1")
	for range 3 {
		check(t, l.Finish(context.Background(), job, done(u[0], 200), done(u[0], 200)))
	}
	wantTally(t, l, crawl.Tally{Claimed: 1, Pages: 1, Verdicts: map[string]int64{"done": 1},
		Statuses: map[int]int64{200: 1}})
}

func finishFirst(t *testing.T, l LedgerSet) {
	ctx := context.Background()
	u := urls(t, "http://a.test/1", "http://a.test/2", "http://a.test/3")
	wantClaims(t, l, "one", u, claims(crawl.New, crawl.New, crawl.New))
	done := crawl.Entry{State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 200, At: aTime, Attempts: 1}
	var entries []crawl.Entry
	for i := range u {
		e := done
		e.Key, e.First = u[i].Key(), i != 1
		entries = append(entries, e)
	}
	check(t, l.Finish(ctx, job, entries...))
	for i, e := range lookup(t, l, u...) {
		if e.State != crawl.StateDone || e.Status != 200 || !sameTime(e.At, aTime) || e.First {
			t.Errorf("URL %d is %+v", i, e)
		}
	}
	for _, by := range []string{"one", "another"} {
		got, err := l.Claim(ctx, job, id(by), tasks(u))
		check(t, err)
		for i, c := range got {
			if c == crawl.New {
				t.Errorf("URL %d, which has its outcome, is new to message %q", i, by)
			}
		}
	}
	wantTally(t, l, crawl.Tally{Claimed: 3, Pages: 3, Verdicts: map[string]int64{"done": 3},
		Statuses: map[int]int64{200: 3}})
	check(t, l.Reopen(ctx, job, u[0].Key()))
	wantTally(t, l, crawl.Tally{Claimed: 3, Pages: 2, Verdicts: map[string]int64{"done": 2},
		Statuses: map[int]int64{200: 2}})
}

func claimFinished(t *testing.T, l LedgerSet) {
	u := urls(t, "http://a.test/1")
	wantClaims(t, l, "one", u, claims(crawl.New))
	check(t, l.Finish(context.Background(), job, done(u[0], 200)))
	wantClaims(t, l, "two", u, claims(crawl.Known))
	wantClaims(t, l, "one", u, claims(crawl.Repeat))
	wantExcluded(t, l, "two", u, claims(crawl.Known))
	if got := lookup(t, l, u[0])[0]; got.State != crawl.StateDone {
		t.Errorf("got state %v, want done", got.State)
	}
}

func reopen(t *testing.T, l LedgerSet) {
	u := urls(t, "http://a.test/done", "http://a.test/excluded", "http://a.test/unknown")
	check(t, l.Finish(context.Background(), job, done(u[0], 200)))
	wantExcluded(t, l, "one", u[1:2], claims(crawl.New))
	check(t, l.Reopen(context.Background(), job, u[0].Key(), u[1].Key(), u[2].Key()))
	got := lookup(t, l, u...)
	for i, want := range []crawl.State{crawl.StateOpen, crawl.StateOpen, crawl.StateUnknown} {
		if got[i].State != want {
			t.Errorf("%s: got state %v, want %v", u[i], got[i].State, want)
		}
	}
	wantTally(t, l, crawl.Tally{Claimed: 2})
	check(t, l.Finish(context.Background(), job, done(u[0], 304)))
	wantTally(t, l, crawl.Tally{Claimed: 2, Verdicts: map[string]int64{"done": 1}, Statuses: map[int]int64{304: 1}})
}

func keepValidators(t *testing.T, l LedgerSet) {
	ctx := context.Background()
	u := urls(t, "http://a.test/both", "http://a.test/etag", "http://a.test/none", "http://a.test/first",
		"http://a.test/gone")
	valid := []crawl.Validators{{ETag: `W/"\"é\xff"`, LastModified: "Sun, 06 Nov 1994 08:49:37 GMT"}, {ETag: `"1"`}, {},
		{LastModified: "x"}, {}}
	wantClaims(t, l, "one", u, claims(crawl.New, crawl.New, crawl.New, crawl.New, crawl.New))
	want := func(when string, want ...crawl.Validators) {
		t.Helper()
		for i, e := range lookup(t, l, u...) {
			if e.Validators != want[i] {
				t.Errorf("%s, %s: got %+v, want %+v", when, u[i], e.Validators, want[i])
			}
		}
	}
	want("before an outcome", make([]crawl.Validators, len(u))...)
	var entries []crawl.Entry
	for i := range u {
		e := done(u[i], 200)
		e.Validators, e.First = valid[i], i == 3
		entries = append(entries, e)
	}
	entries[4].Verdict, entries[4].Status = crawl.VerdictGone, 404
	check(t, l.Finish(ctx, job, entries...))
	want("after it", valid...)
	again := done(u[0], 200)
	again.Validators.ETag = `"other"`
	check(t, l.Finish(ctx, job, again, done(u[1], 200)))
	want("told again", valid...)
	check(t, l.Reopen(ctx, job, u[0].Key(), u[1].Key()))
	want("taken back", crawl.Validators{}, crawl.Validators{}, valid[2], valid[3], valid[4])
	check(t, l.Finish(ctx, job, again, done(u[1], 200)))
	want("fetched again", crawl.Validators{ETag: `"other"`}, crawl.Validators{}, valid[2], valid[3], valid[4])
}

func tallyExcluded(t *testing.T, l LedgerSet) {
	u := urls(t, "http://a.test/1", "http://a.test/2")
	wantExcluded(t, l, "one", u, claims(crawl.New, crawl.New))
	wantTally(t, l, crawl.Tally{Excluded: map[string]int64{crawl.ReasonScope: 2}})
	wantClaims(t, l, "two", u[:1], claims(crawl.New))
	wantTally(t, l, crawl.Tally{Claimed: 1, Excluded: map[string]int64{crawl.ReasonScope: 1}})
}

func tallyPages(t *testing.T, l LedgerSet) {
	u := manyURLs(t, 4, 1)
	page, robots, sitemap, moved := done(u[0], 200), done(u[1], 200), done(u[2], 200), done(u[3], 301)
	robots.Kind, sitemap.Kind = crawl.KindRobots, crawl.KindSitemap
	check(t, l.Finish(context.Background(), job, page, robots, sitemap, moved))
	wantTally(t, l, crawl.Tally{Claimed: 4, Pages: 1, Verdicts: map[string]int64{"done": 4},
		Statuses: map[int]int64{200: 3, 301: 1}})
	if got := lookup(t, l, u[1])[0].Kind; got != crawl.KindRobots {
		t.Errorf("kind of the outcome: got %v, want robots", got)
	}
}

func finishRetry(t *testing.T, l LedgerSet) {
	u := urls(t, "http://a.test/1")
	e := done(u[0], 503)
	e.Verdict = crawl.VerdictRetry
	if err := l.Finish(context.Background(), job, e); err == nil {
		t.Error("a verdict of retry was taken for a final outcome")
	}
	wantTally(t, l, crawl.Tally{})
}

// tallyAtOnce lets 200 goroutines claim, exclude and finish URLs that partly overlap.
func tallyAtOnce(t *testing.T, l LedgerSet) {
	const writers, n = 200, 50
	u := manyURLs(t, n, 7)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			ctx, me := context.Background(), id(fmt.Sprint("writer ", w))
			one := u[w%n : w%n+1]
			_, err := l.Exclude(ctx, job, me, []crawl.Exclusion{{URL: one[0], Reason: crawl.ReasonDepth}})
			if err == nil {
				_, err = l.Claim(ctx, job, me, tasks(one))
			}
			if err == nil && w%2 == 0 {
				err = l.Finish(ctx, job, done(one[0], 200))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantTally(t, l, crawl.Tally{Claimed: n, Pages: n / 2, Verdicts: map[string]int64{"done": n / 2},
		Statuses: map[int]int64{200: n / 2}})
}

func done(u weburl.URL, status int) crawl.Entry {
	return crawl.Entry{Key: u.Key(), Verdict: crawl.VerdictDone, Status: status, At: aTime, Attempts: 1}
}

func lookup(t *testing.T, l crawl.Ledger, u ...weburl.URL) []crawl.Entry {
	t.Helper()
	keys := make([]weburl.Key, len(u))
	for i := range u {
		keys[i] = u[i].Key()
	}
	got, err := l.Lookup(context.Background(), job, keys...)
	check(t, err)
	if len(got) != len(keys) {
		t.Fatalf("looked up %d keys, got %d entries", len(keys), len(got))
	}
	return got
}

func wantTally(t *testing.T, l crawl.Ledger, want crawl.Tally) {
	t.Helper()
	got, err := l.Tally(context.Background(), job)
	check(t, err)
	if got.Claimed != want.Claimed || got.Pages != want.Pages || !maps.Equal(got.Verdicts, want.Verdicts) ||
		!maps.Equal(got.Statuses, want.Statuses) || !maps.Equal(got.Excluded, want.Excluded) {
		t.Fatalf("tally: got %+v, want %+v", got, want)
	}
}
