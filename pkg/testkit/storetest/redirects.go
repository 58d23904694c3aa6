package storetest

import (
	"context"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Redirects checks the promises of crawl.Redirects. again opens the store once more, and may close the first.
func Redirects(t *testing.T, open func(t *testing.T) (r crawl.Redirects, again func() crawl.Redirects)) {
	ctx := context.Background()
	want := func(t *testing.T, r crawl.Redirects, id crawl.JobID, from, to weburl.URL) {
		t.Helper()
		got, found, err := r.Target(ctx, id, from)
		check(t, err)
		if found == to.IsZero() || got != to {
			t.Errorf("job %s: %s leads to %q, found %v, want %q", id, from, got, found, to)
		}
	}
	t.Run("the last target counts, and outlasts the program", func(t *testing.T) {
		r, again := open(t)
		u := urls(t, "http://a.test/1", "http://a.test/2?x=ü", "https://b.test/3")
		check(t, r.Redirect(ctx, job, u[0], u[2]))
		check(t, r.Redirect(ctx, job, u[0], u[1]))
		check(t, r.Redirect(ctx, job, u[1], u[1]))
		for _, next := range []func() crawl.Redirects{func() crawl.Redirects { return r }, again} {
			r := next()
			want(t, r, job, u[0], u[1])
			want(t, r, job, u[1], u[1])
			want(t, r, job, u[2], weburl.URL{})
		}
	})
	t.Run("jobs are apart", func(t *testing.T) {
		r, _ := open(t)
		u := urls(t, "http://a.test/1", "http://a.test/2")
		check(t, r.Redirect(ctx, job, u[0], u[1]))
		check(t, r.Redirect(ctx, "another", u[0], u[0]))
		want(t, r, job, u[0], u[1])
		want(t, r, "another", u[0], u[0])
		want(t, r, "nobody knows it", u[0], weburl.URL{})
	})
}
