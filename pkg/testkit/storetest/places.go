package storetest

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Places checks the promises of crawl.Places. again opens the store once more, and may close the first.
func Places(t *testing.T, open func(t *testing.T) (p crawl.Places, again func() crawl.Places)) {
	ctx := context.Background()
	want := func(t *testing.T, p crawl.Places, id crawl.JobID, us ...weburl.URL) {
		t.Helper()
		got, err := p.Places(ctx, id)
		check(t, err)
		keys := keysOf(us)
		for _, list := range [][]weburl.Key{got, keys} {
			slices.SortFunc(list, func(a, b weburl.Key) int { return bytes.Compare(a[:], b[:]) })
		}
		if !slices.Equal(got, keys) {
			t.Errorf("job %s: %d pages keep their places: %v, want %v", id, len(got), got, keys)
		}
	}
	t.Run("a page keeps its place until it leaves it, and outlasts the program", func(t *testing.T) {
		p, again := open(t)
		u := urls(t, "http://a.test/1", "http://a.test/2", "https://b.test/3")
		check(t, p.KeepPlaces(ctx, job, keysOf(u)...))
		check(t, p.KeepPlaces(ctx, job, u[0].Key(), u[0].Key()))
		check(t, p.KeepPlaces(ctx, job))
		check(t, p.LeavePlaces(ctx, job, u[1].Key()))
		check(t, p.LeavePlaces(ctx, job, u[1].Key()))
		check(t, p.LeavePlaces(ctx, job))
		want(t, p, job, u[0], u[2])
		want(t, again(), job, u[0], u[2])
	})
	t.Run("jobs are apart", func(t *testing.T) {
		p, _ := open(t)
		u := urls(t, "http://a.test/1", "http://a.test/2")
		check(t, p.KeepPlaces(ctx, job, u[0].Key()))
		check(t, p.KeepPlaces(ctx, "another", u[0].Key(), u[1].Key()))
		check(t, p.LeavePlaces(ctx, "another", u[0].Key()))
		want(t, p, job, u[0])
		want(t, p, "another", u[1])
		want(t, p, "nobody knows it")
	})
}

func keysOf(us []weburl.URL) []weburl.Key {
	keys := make([]weburl.Key, len(us))
	for i, u := range us {
		keys[i] = u.Key()
	}
	return keys
}
