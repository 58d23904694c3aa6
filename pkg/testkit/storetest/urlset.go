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

const job = crawl.JobID("suite")

// URLSet checks the promises of crawl.URLSet. Each subtest gets a set of its own.
func URLSet(t *testing.T, open func(t *testing.T) crawl.URLSet) {
	t.Run("a claim is new once and known to others after", func(t *testing.T) { claimOnce(t, open(t)) })
	t.Run("the same message asked again gets repeats", func(t *testing.T) { claimRepeat(t, open(t)) })
	t.Run("a URL twice in a batch is new once", func(t *testing.T) { claimTwiceInBatch(t, open(t)) })
	t.Run("an excluded URL can be claimed", func(t *testing.T) { claimExcluded(t, open(t)) })
	t.Run("a claimed URL cannot be excluded", func(t *testing.T) { excludeClaimed(t, open(t)) })
	t.Run("jobs do not share claims", func(t *testing.T) { claimByJobs(t, open(t)) })
	t.Run("an empty batch is no error", func(t *testing.T) { wantClaims(t, open(t), "x", nil, nil) })
	t.Run("of 200 claims at once one is new", func(t *testing.T) { claimAtOnce(t, open(t)) })
	t.Run("large batches answer in order", func(t *testing.T) { claimLarge(t, open(t)) })
}

func claimOnce(t *testing.T, s crawl.URLSet) {
	u := urls(t, "http://a.test/1", "http://b.test/2")
	wantClaims(t, s, "one", u, claims(crawl.New, crawl.New))
	wantClaims(t, s, "two", u, claims(crawl.Known, crawl.Known))
}

func claimRepeat(t *testing.T, s crawl.URLSet) {
	u := urls(t, "http://a.test/1", "http://b.test/2", "http://a.test/3")
	wantClaims(t, s, "one", u[:2], claims(crawl.New, crawl.New))
	wantClaims(t, s, "one", u, claims(crawl.Repeat, crawl.Repeat, crawl.New))
}

func claimTwiceInBatch(t *testing.T, s crawl.URLSet) {
	u := urls(t, "http://a.test/1", "http://b.test/", "http://a.test/1", "http://b.test/", "http://a.test/1")
	wantClaims(t, s, "one", u, claims(crawl.New, crawl.New, crawl.Known, crawl.Known, crawl.Known))
	wantClaims(t, s, "one", u, claims(crawl.Repeat, crawl.Repeat, crawl.Known, crawl.Known, crawl.Known))
}

func claimExcluded(t *testing.T, s crawl.URLSet) {
	u := urls(t, "http://a.test/1")
	wantExcluded(t, s, "one", u, claims(crawl.New))
	wantExcluded(t, s, "one", u, claims(crawl.Repeat))
	wantExcluded(t, s, "two", u, claims(crawl.Known))
	wantClaims(t, s, "two", u, claims(crawl.New))
	wantClaims(t, s, "three", u, claims(crawl.Known))
}

func excludeClaimed(t *testing.T, s crawl.URLSet) {
	u := urls(t, "http://a.test/1", "http://a.test/2", "http://a.test/2")
	wantClaims(t, s, "one", u[:1], claims(crawl.New))
	wantExcluded(t, s, "two", u, claims(crawl.Known, crawl.New, crawl.Known))
	wantClaims(t, s, "one", u[:1], claims(crawl.Repeat))
}

func claimByJobs(t *testing.T, s crawl.URLSet) {
	u := urls(t, "http://a.test/1")
	for _, j := range []crawl.JobID{"first", "second"} {
		got, err := s.Claim(context.Background(), j, id("one"), tasks(u))
		check(t, err)
		if got[0] != crawl.New {
			t.Errorf("job %q: got %v, want New", j, got[0])
		}
	}
}

// claimAtOnce lets 200 messages claim the same URLs, each in an order of its own.
func claimAtOnce(t *testing.T, s crawl.URLSet) {
	const messages, n = 200, 20
	u := manyURLs(t, n, 5)
	news := make([][]crawl.Claimed, messages)
	var start, done sync.WaitGroup
	start.Add(1)
	for m := range messages {
		done.Go(func() {
			start.Wait()
			turned := slices.Concat(u[m%n:], u[:m%n])
			got, err := s.Claim(context.Background(), job, id(fmt.Sprint("message ", m)), tasks(turned))
			if err != nil || len(got) != n {
				t.Errorf("message %d: %d answers, error %v", m, len(got), err)
				return
			}
			news[m] = slices.Concat(got[n-m%n:], got[:n-m%n])
		})
	}
	start.Done()
	done.Wait()
	for i := range u {
		count := 0
		for m := range news {
			if news[m] != nil && news[m][i] == crawl.New {
				count++
			}
		}
		if count != 1 {
			t.Errorf("%s was new to %d messages, want 1", u[i], count)
		}
	}
}

func claimLarge(t *testing.T, s crawl.URLSet) {
	u := manyURLs(t, 1200, 37)
	var odd []weburl.URL
	for i := 1; i < len(u); i += 2 {
		odd = append(odd, u[i])
	}
	wantClaims(t, s, "odd", odd, slices.Repeat(claims(crawl.New), len(odd)))
	wantClaims(t, s, "all", u, slices.Repeat(claims(crawl.New, crawl.Known), len(u)/2))
	wantClaims(t, s, "odd", u, slices.Repeat(claims(crawl.Known, crawl.Repeat), len(u)/2))
}

func claims(c ...crawl.Claimed) []crawl.Claimed { return c }

func wantClaims(t *testing.T, s crawl.URLSet, by string, u []weburl.URL, want []crawl.Claimed) {
	t.Helper()
	got, err := s.Claim(context.Background(), job, id(by), tasks(u))
	check(t, err)
	if !slices.Equal(got, want) {
		t.Fatalf("claims by %q: got %v, want %v", by, got, want)
	}
}

func wantExcluded(t *testing.T, s crawl.URLSet, by string, u []weburl.URL, want []crawl.Claimed) {
	t.Helper()
	excl := make([]crawl.Exclusion, len(u))
	for i := range u {
		excl[i] = crawl.Exclusion{URL: u[i], Reason: crawl.ReasonScope}
	}
	got, err := s.Exclude(context.Background(), job, id(by), excl)
	check(t, err)
	if !slices.Equal(got, want) {
		t.Fatalf("exclusions by %q: got %v, want %v", by, got, want)
	}
}
