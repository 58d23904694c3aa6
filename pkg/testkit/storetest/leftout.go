package storetest

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// LeftOutSet is a walk over what was left out, with the URL set and the ledger that share its records.
type LeftOutSet interface {
	LedgerSet
	crawl.LeftOuts
}

// LeftOuts checks the promises of crawl.LeftOuts. Each subtest gets stores of its own.
func LeftOuts(t *testing.T, open func(t *testing.T) LeftOutSet) {
	t.Run("what was excluded comes with all that it takes to judge it again",
		func(t *testing.T) { leftOutWhole(t, open(t)) })
	t.Run("what was dismissed comes too", func(t *testing.T) { leftOutDismissed(t, open(t)) })
	t.Run("what was claimed, fetched or opened again does not", func(t *testing.T) { leftOutNoMore(t, open(t)) })
	t.Run("the walk goes on behind a key", func(t *testing.T) { leftOutWalk(t, open(t)) })
	t.Run("what is released can be claimed, and is excluded till then", func(t *testing.T) { release(t, open(t)) })
	t.Run("nothing else can be released", func(t *testing.T) { releaseNothing(t, open(t)) })
	t.Run("an outcome tells its epoch", func(t *testing.T) { epochOfOutcome(t, open(t)) })
	t.Run("a URL of another scheme is told by nobody", func(t *testing.T) { leftOutScheme(t, open(t)) })
	t.Run("the first exclusion is the one that is told", func(t *testing.T) { leftOutFirst(t, open(t)) })
}

// anExclusion has every field set.
func anExclusion(t *testing.T, raw string) crawl.Exclusion {
	u := urls(t, raw, "http://a.test/from")
	return crawl.Exclusion{URL: u[0], Referrer: u[1], Reason: crawl.ReasonExclude, Depth: 3, Rule: "/calendar/", Epoch: 2,
		Kind: crawl.KindSitemap, Priority: 4, Redirects: 1, Feed: true}
}

func exclude(t *testing.T, l LeftOutSet, by string, xs ...crawl.Exclusion) {
	t.Helper()
	_, err := l.Exclude(context.Background(), job, id(by), xs)
	check(t, err)
}

func leftOut(t *testing.T, l crawl.LeftOuts, after weburl.Key, n int) []crawl.LeftOut {
	t.Helper()
	list, err := l.LeftOut(context.Background(), job, after, n)
	check(t, err)
	return list
}

func leftOutWhole(t *testing.T, l LeftOutSet) {
	x := anExclusion(t, "http://a.test/x?y")
	exclude(t, l, "one", x)
	want := x.LeftOut(job)
	if got := leftOut(t, l, weburl.Key{}, 10); !reflect.DeepEqual(got, []crawl.LeftOut{want}) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	got, found, err := l.WhyLeftOut(context.Background(), job, x.URL.Key())
	if err != nil || !found || !reflect.DeepEqual(got, want) {
		t.Errorf("why: %+v, %v, %v", got, found, err)
	}
	if e := lookup(t, l, x.URL)[0]; e.State != crawl.StateExcluded || e.Epoch != 2 || e.Reason != crawl.ReasonExclude {
		t.Errorf("the ledger says %+v", e)
	}
	for _, u := range urls(t, "http://b.test/") {
		if _, found, err := l.WhyLeftOut(context.Background(), job, u.Key()); found || err != nil {
			t.Errorf("%s was found, error %v", u, err)
		}
	}
	if list, err := l.LeftOut(context.Background(), "nobody", weburl.Key{}, 9); err != nil || len(list) > 0 {
		t.Errorf("a job that nobody knows left out %v, error %v", list, err)
	}
}

// dismiss ends a URL's story as over a budget, by revision 3.
func dismiss(t *testing.T, l LeftOutSet, u weburl.URL) crawl.Task {
	t.Helper()
	task := crawl.Task{Job: job, URL: u, Depth: 2, Priority: 3}
	_, err := l.Claim(context.Background(), job, id("claimed "+u.String()), []crawl.Task{task})
	check(t, err)
	left := crawl.LeftOut{Task: task, Reason: crawl.ReasonHostBudget, Rule: "pages_per_host 2"}
	left.Task.Epoch = 3
	check(t, l.Finish(context.Background(), job,
		crawl.Entry{Key: u.Key(), State: crawl.StateDone, Verdict: crawl.VerdictExcluded,
			Reason: left.Reason, At: aTime, Epoch: 3, Left: &left}))
	return left.Task
}

func leftOutDismissed(t *testing.T, l LeftOutSet) {
	u := urls(t, "http://a.test/1")[0]
	task := dismiss(t, l, u)
	want := []crawl.LeftOut{{Task: task, Reason: crawl.ReasonHostBudget, Rule: "pages_per_host 2", Dismissed: true}}
	if got := leftOut(t, l, weburl.Key{}, 10); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if e := lookup(t, l, u)[0]; e.State != crawl.StateDone || e.Epoch != 3 || e.Left != nil {
		t.Errorf("the ledger says %+v", e)
	}
}

func leftOutNoMore(t *testing.T, l LeftOutSet) {
	ctx := context.Background()
	a, b, c := anExclusion(t, "http://a.test/1"), anExclusion(t, "http://a.test/2"), anExclusion(t, "http://a.test/3")
	d := urls(t, "http://a.test/4")[0]
	exclude(t, l, "one", a, b, c)
	dismiss(t, l, d)
	_, err := l.Claim(ctx, job, id("two"), tasks([]weburl.URL{a.URL}))
	check(t, err)
	check(t, l.Finish(ctx, job, done(b.URL, 200)))
	check(t, l.Reopen(ctx, job, c.URL.Key(), d.Key()))
	if got := leftOut(t, l, weburl.Key{}, 10); len(got) != 0 {
		t.Errorf("got %+v, want none", got)
	}
	for _, u := range []weburl.URL{a.URL, b.URL, c.URL, d} {
		if _, found, err := l.WhyLeftOut(ctx, job, u.Key()); found || err != nil {
			t.Errorf("%s is left out, error %v", u, err)
		}
	}
}

func leftOutWalk(t *testing.T, l LeftOutSet) {
	const n = 30
	u := manyURLs(t, n, 7)
	var xs []crawl.Exclusion
	for i := range u {
		xs = append(xs, crawl.Exclusion{URL: u[i], Reason: crawl.ReasonDepth, Depth: i})
	}
	exclude(t, l, "one", xs...)
	var seen []weburl.Key
	for after := (weburl.Key{}); ; {
		list := leftOut(t, l, after, 7)
		for _, x := range list {
			seen = append(seen, x.Task.URL.Key())
		}
		if len(list) < 7 {
			break
		}
		after = list[len(list)-1].Task.URL.Key()
	}
	if len(seen) != n || !slices.IsSortedFunc(seen, func(a, b weburl.Key) int { return slices.Compare(a[:], b[:]) }) {
		t.Errorf("the walk met %d URLs in order, want %d: %v", len(seen), n, seen)
	}
}

func release(t *testing.T, l LeftOutSet) {
	ctx := context.Background()
	u := urls(t, "http://a.test/1")[0]
	task := dismiss(t, l, u)
	wantTally(t, l, crawl.Tally{Claimed: 1, Verdicts: map[string]int64{"excluded": 1},
		Excluded: map[string]int64{crawl.ReasonHostBudget: 1}})
	for range 2 {
		check(t, l.Release(ctx, job, u.Key()))
		if e := lookup(t, l, u)[0]; e.State != crawl.StateExcluded || e.Reason != crawl.ReasonHostBudget || e.Epoch != 3 {
			t.Fatalf("the ledger says %+v, want excluded for the same reason", e)
		}
		wantTally(t, l, crawl.Tally{Excluded: map[string]int64{crawl.ReasonHostBudget: 1}})
	}
	want := []crawl.LeftOut{{Task: task, Reason: crawl.ReasonHostBudget, Rule: "pages_per_host 2"}}
	if got := leftOut(t, l, weburl.Key{}, 10); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	wantClaims(t, l, "sweep", []weburl.URL{u}, claims(crawl.New))
	wantClaims(t, l, "sweep", []weburl.URL{u}, claims(crawl.Repeat))
	wantTally(t, l, crawl.Tally{Claimed: 1})
}

func releaseNothing(t *testing.T, l LeftOutSet) {
	u := urls(t, "http://a.test/open", "http://a.test/done", "http://a.test/excluded", "http://a.test/unknown")
	wantClaims(t, l, "one", u[:1], claims(crawl.New))
	check(t, l.Finish(context.Background(), job, done(u[1], 200)))
	wantExcluded(t, l, "one", u[2:3], claims(crawl.New))
	before := lookup(t, l, u...)
	keys := make([]weburl.Key, len(u))
	for i := range u {
		keys[i] = u[i].Key()
	}
	check(t, l.Release(context.Background(), job, keys...))
	if after := lookup(t, l, u...); !reflect.DeepEqual(after, before) {
		t.Errorf("got  %+v\nwant %+v", after, before)
	}
}

func epochOfOutcome(t *testing.T, l LeftOutSet) {
	u := urls(t, "http://a.test/1", "http://a.test/2")
	first, later := done(u[0], 200), done(u[1], 404)
	first.Epoch, later.Epoch = 1, 70_000
	check(t, l.Finish(context.Background(), job, first, later))
	got := lookup(t, l, u...)
	if crawl.EpochOf(got[0].Epoch) != 1 || got[1].Epoch != 70_000 || got[1].Status != 404 {
		t.Errorf("got %+v", got)
	}
}

// leftOutScheme leaves out what is no URL that can be crawled: no revision lets it in.
func leftOutScheme(t *testing.T, l LeftOutSet) {
	u, ok := weburl.ParseForeign("tel:+4930123456")
	if !ok {
		t.Fatal("tel: is no scheme")
	}
	x := anExclusion(t, "http://a.test/1")
	exclude(t, l, "one", crawl.Exclusion{URL: u, Reason: crawl.ReasonScheme}, x)
	if got := leftOut(t, l, weburl.Key{}, 10); len(got) != 1 || got[0].Task.URL != x.URL {
		t.Errorf("got %+v", got)
	}
	if _, found, err := l.WhyLeftOut(context.Background(), job, u.Key()); found || err != nil {
		t.Errorf("found %v, error %v", found, err)
	}
}

func leftOutFirst(t *testing.T, l LeftOutSet) {
	x := anExclusion(t, "http://a.test/1")
	again := x
	again.Rule, again.Epoch, again.Depth = "/later/", 5, 9
	exclude(t, l, "one", x)
	exclude(t, l, "two", again)
	if got := leftOut(t, l, weburl.Key{}, 10); len(got) != 1 || got[0].Rule != x.Rule || got[0].Task.Epoch != 2 {
		t.Errorf("got %+v", got)
	}
}
