package storetest

import (
	"context"
	"net/netip"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Hosts checks the promises of crawl.Hosts.
func Hosts(t *testing.T, open func(t *testing.T) crawl.Hosts) {
	ctx := context.Background()
	t.Run("a host never put has its key and nothing else, in its place", func(t *testing.T) {
		s := open(t)
		check(t, s.PutHosts(ctx, crawl.Host{Key: "b.test", Requests: 2}))
		got, err := s.Hosts(ctx, "nobody.test", "b.test", "nor.this.test", "b.test")
		check(t, err)
		want := []crawl.Host{{Key: "nobody.test"}, {Key: "b.test", Requests: 2}, {Key: "nor.this.test"},
			{Key: "b.test", Requests: 2}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got, err := s.Hosts(ctx); len(got) != 0 || err != nil {
			t.Errorf("asked for none: got %v, error %v", got, err)
		}
	})
	t.Run("the last record put comes back whole", func(t *testing.T) {
		s := open(t)
		want := crawl.Host{Key: "a.test:81", Next: aTime, LastContact: aTime.Add(-time.Second),
			SlowedAt: aTime.Add(-time.Minute), Backoff: time.Hour, Failures: 3, Addr: netip.MustParseAddr("192.0.2.7"),
			Requests: 12, Origins: []crawl.Origin{{Name: "http://a.test:81", Expires: aTime, CrawlDelay: time.Second}},
			Rest:     crawl.Rest{Job: "a", Ended: aTime, Took: time.Second, Gaps: 2, Least: time.Minute},
			FailedBy: "0a1b2c3d"}
		check(t, s.PutHosts(ctx, crawl.Host{Key: "a.test:81", Failures: 9}, crawl.Host{Key: "b.test"}))
		check(t, s.PutHosts(ctx, want))
		check(t, s.PutHosts(ctx))
		recs, err := s.Hosts(ctx, "a.test:81")
		check(t, err)
		got := recs[0]
		if len(got.Origins) != 1 {
			t.Fatalf("got %+v", got)
		}
		for _, at := range []*time.Time{&got.Next, &got.LastContact, &got.SlowedAt, &got.Origins[0].Expires,
			&got.Rest.Ended} {
			*at = at.UTC().Round(time.Microsecond)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// Robots checks the promises of crawl.RobotsStore.
func Robots(t *testing.T, open func(t *testing.T) crawl.RobotsStore) {
	ctx := context.Background()
	t.Run("origins are apart and the last file put counts", func(t *testing.T) {
		s := open(t)
		for _, r := range []crawl.Robots{
			{Origin: "http://a.test", State: crawl.RobotsDisallowAll, Status: 503, FetchedAt: aTime, Expires: aTime},
			{Origin: "http://a.test", Status: 200, Body: []byte("User-agent: *\r\n\x00\xff"), FetchedAt: aTime,
				Expires: aTime.Add(1e9), Job: "j"},
			{Origin: "https://a.test", State: crawl.RobotsAllowAll, Status: 404, FetchedAt: aTime, Expires: aTime},
		} {
			check(t, s.PutRobots(ctx, r))
		}
		got, found, err := s.Robots(ctx, "http://a.test")
		check(t, err)
		if !found || got.Status != 200 || string(got.Body) != "User-agent: *\r\n\x00\xff" || got.State != crawl.RobotsRules ||
			got.Job != "j" || !sameTime(got.FetchedAt, aTime) || !sameTime(got.Expires, aTime.Add(1e9)) {
			t.Errorf("got %+v, found %v", got, found)
		}
		if got, _, _ := s.Robots(ctx, "https://a.test"); got.State != crawl.RobotsAllowAll {
			t.Errorf("the origin with https: got %+v", got)
		}
		if _, found, err := s.Robots(ctx, "http://b.test"); found || err != nil {
			t.Errorf("an origin never put: found %v, error %v", found, err)
		}
	})
}

// Budgets checks the promises of crawl.Budgets.
func Budgets(t *testing.T, open func(t *testing.T) crawl.Budgets) {
	ctx := context.Background()
	t.Run("no more than the limit is granted", func(t *testing.T) {
		b := open(t)
		for i, c := range []struct {
			key            string
			n, limit, want int
		}{
			{"host a", 3, 5, 3}, {"host a", 3, 5, 2}, {"host a", 1, 5, 0}, {"host a", 9, 8, 3}, {"host a", 1, 5, 0},
			{"host b", 0, 5, 0}, {"host b", 5, 5, 5}, {"host c", 1, 0, 0}, {"host c", -1, 5, 0},
		} {
			got, err := b.Spend(ctx, job, c.key, c.n, c.limit)
			check(t, err)
			if got != c.want {
				t.Fatalf("step %d: spend %d of %d under %q: granted %d, want %d", i, c.n, c.limit, c.key, got, c.want)
			}
		}
		if got, err := b.Spend(ctx, "another", "host a", 1, 5); got != 1 || err != nil {
			t.Errorf("another job's budget: granted %d, error %v", got, err)
		}
	})
	t.Run("200 spenders at once stay within the limit", func(t *testing.T) {
		b := open(t)
		var granted atomic.Int64
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				n, err := b.Spend(ctx, job, "host", 3, 100)
				if err != nil {
					t.Error(err)
				}
				granted.Add(int64(n))
			})
		}
		wg.Wait()
		if granted.Load() != 100 {
			t.Errorf("granted %d, want 100", granted.Load())
		}
	})
}
