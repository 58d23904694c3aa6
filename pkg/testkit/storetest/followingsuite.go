package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Following checks the promises of crawl.Following. Each subtest gets one of its own.
func Following(t *testing.T, open func(t *testing.T) crawl.Following) {
	for _, c := range shareCases {
		t.Run(c.name, func(t *testing.T) { followShares(t, open(t), c.steps, c.waits) })
	}
	t.Run("tasks come back whole, marked as repeats", func(t *testing.T) { followTasks(t, open(t)) })
	t.Run("only pages expected before are unfollowed", func(t *testing.T) { followBefore(t, open(t)) })
	t.Run("jobs are apart, and pages are forgotten one by one", func(t *testing.T) { followForget(t, open(t)) })
	t.Run("there is no share that is none", func(t *testing.T) { followNonsense(t, open(t)) })
	t.Run("of shares and expectations at once none is missed", func(t *testing.T) { followAtOnce(t, open(t)) })
}

// step is a share that is claimed; of nothing: the page is expected.
type step = crawl.Share

// shareCases are what happens to one page in turn, and whether somebody waits for it then.
var shareCases = []struct {
	name  string
	steps []step
	waits bool
}{
	{"the page is expected first", []step{{}, {Index: 0, Of: 1}}, false},
	{"its only share comes first", []step{{Index: 0, Of: 1}, {}}, false},
	{"nobody waits for a page that was not expected", []step{{Index: 0, Of: 2}}, false},
	{"nothing is claimed", []step{{}}, true},
	{"a share is missing", []step{{}, {Index: 1, Of: 2}}, true},
	{"a share that comes again is one", []step{{}, {Index: 1, Of: 2}, {Index: 1, Of: 2}}, true},
	{"shares in any order", []step{{Index: 2, Of: 3}, {Index: 0, Of: 3}, {}, {Index: 1, Of: 3}}, false},
	{"all shares first", []step{{Index: 1, Of: 2}, {Index: 0, Of: 2}, {}}, false},
	{"expected twice", []step{{}, {Index: 1, Of: 2}, {}, {Index: 0, Of: 2}}, false},
	{"expected again after its last share", []step{{}, {Index: 1, Of: 2}, {Index: 0, Of: 2}, {}}, false},
	{"its shares come again after the last", []step{{}, {Index: 1, Of: 2}, {Index: 0, Of: 2}, {Index: 0, Of: 2}}, false},
	{"a newer table begins anew", []step{{}, {Epoch: 3, Index: 0, Of: 2}, {Epoch: 4, Index: 1, Of: 2}}, true},
	{"a newer table with fewer shares", []step{{}, {Epoch: 3, Index: 0, Of: 3}, {Epoch: 4, Index: 0, Of: 1}}, false},
	{"an older table is ignored", []step{{}, {Epoch: 4, Index: 0, Of: 2}, {Epoch: 3, Index: 1, Of: 2}}, true},
	{"an older table's only share is ignored", []step{{}, {Epoch: 4, Index: 0, Of: 2}, {Epoch: 3, Index: 0, Of: 1}}, true},
	{"the newer table's shares come between",
		[]step{{Epoch: 3, Index: 0, Of: 2}, {Epoch: 4, Index: 1, Of: 2}, {}, {Epoch: 3, Index: 1, Of: 2},
			{Epoch: 4, Index: 0, Of: 2}}, false},
	{"split again by the same table into more", []step{{}, {Epoch: 4, Index: 0, Of: 2}, {Epoch: 4, Index: 1, Of: 3}},
		true},
	{"shares of fewer are ignored then", []step{{}, {Epoch: 4, Index: 0, Of: 2}, {Epoch: 4, Index: 1, Of: 3},
		{Epoch: 4, Index: 1, Of: 2}, {Epoch: 4, Index: 0, Of: 3}, {Epoch: 4, Index: 2, Of: 3}}, false},
}

func followShares(t *testing.T, f crawl.Following, steps []step, waits bool) {
	ctx, u := context.Background(), urls(t, "http://a.test/page")[0]
	for _, s := range steps {
		if s.Of == 0 {
			check(t, f.Expect(ctx, Tasks(job, u)...))
			continue
		}
		check(t, f.Claimed(ctx, job, u, s))
	}
	var want []weburl.URL
	if waits {
		want = append(want, u)
	}
	wantFollowed(t, f, job, want...)
}

// wantFollowed checks which pages of a job are expected, and that all of them are unfollowed by now.
func wantFollowed(t *testing.T, f crawl.Following, job crawl.JobID, want ...weburl.URL) {
	t.Helper()
	n, err := f.Waiting(context.Background(), job)
	check(t, err)
	var got []weburl.URL
	check(t, f.Unfollowed(context.Background(), weburl.AllKeys(), time.Now().Add(time.Hour), func(task crawl.Task) error {
		if task.Job == job {
			got = append(got, task.URL)
		}
		return nil
	}))
	byText := func(a, b weburl.URL) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(got, byText)
	slices.SortFunc(want, byText)
	if n != int64(len(want)) || !slices.Equal(got, want) {
		t.Errorf("%d pages wait, unfollowed are %v; want %v", n, got, want)
	}
}

func unfollowed(t *testing.T, f crawl.Following, before time.Time) map[weburl.URL]crawl.Task {
	t.Helper()
	got := map[weburl.URL]crawl.Task{}
	check(t, f.Unfollowed(context.Background(), weburl.AllKeys(), before,
		func(task crawl.Task) error { got[task.URL] = task; return nil }))
	return got
}

func followTasks(t *testing.T, f crawl.Following) {
	ctx, u := context.Background(),
		urls(t, "http://a.test/1", "http://b.test/robots.txt", "http://c.test/sitemap.xml", "http://a.test/")
	tasks := []crawl.Task{
		{Job: job, URL: u[0], Priority: 4, Depth: 3, Redirects: 1, Referrer: u[3], Visit: 2, ETag: `"x"`,
			LastModified: "yesterday", Tracked: true},
		{Job: job, URL: u[1], Kind: crawl.KindRobots, For: "http://a.test", Tracked: true},
		{Job: "another", URL: u[2], Kind: crawl.KindSitemap, Seed: true},
	}
	check(t, f.Expect(ctx, tasks...))
	check(t, f.Expect(ctx))
	got := unfollowed(t, f, time.Now().Add(time.Hour))
	for _, want := range tasks {
		want.Repeat = true
		if got[want.URL] != want {
			t.Errorf("got  %+v\nwant %+v", got[want.URL], want)
		}
	}
	enough, calls := errors.New("enough"), 0
	err := f.Unfollowed(ctx, weburl.AllKeys(), time.Now().Add(time.Hour),
		func(crawl.Task) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("after %d calls error %v, want the caller's after one", calls, err)
	}
}

func followBefore(t *testing.T, f crawl.Following) {
	ctx, u := context.Background(), urls(t, "http://a.test/1", "http://a.test/2")
	check(t, f.Expect(ctx, Tasks(job, u[0])...))
	between := later()
	later()
	check(t, f.Expect(ctx, Tasks(job, u...)...)) // the first is expected since before
	if got := slices.Collect(maps.Keys(unfollowed(t, f, between))); !slices.Equal(got, u[:1]) {
		t.Errorf("unfollowed are %v, want the first", got)
	}
}

// later returns a time that is later than now for stores that keep microseconds.
func later() time.Time {
	start := time.Now()
	for time.Since(start) < 2*time.Microsecond {
		continue
	}
	return time.Now()
}

func followForget(t *testing.T, f crawl.Following) {
	ctx, u := context.Background(), urls(t, "http://a.test/1", "http://a.test/2")
	check(t, f.Expect(ctx, append(Tasks("first", u...), Tasks("second", u...)...)...))
	check(t, f.Claimed(ctx, "first", u[0], crawl.Share{Of: 1}))
	wantFollowed(t, f, "first", u[1])
	check(t, f.Forget(ctx, "second", u[1].Key()))
	check(t, f.Forget(ctx, "second", u[1].Key()))
	check(t, f.Forget(ctx, "nobody knows it", u[1].Key()))
	check(t, f.Forget(ctx, "second"))
	wantFollowed(t, f, "second", u[0])
	wantFollowed(t, f, "third")
	// What is fetched again is followed again, and what was claimed before does not count.
	check(t, f.Claimed(ctx, "second", u[0], crawl.Share{Index: 0, Of: 2}))
	check(t, f.Forget(ctx, "second", u[0].Key()))
	check(t, f.Expect(ctx, Tasks("second", u[0])...))
	check(t, f.Claimed(ctx, "second", u[0], crawl.Share{Index: 1, Of: 2}))
	wantFollowed(t, f, "second", u[0])
}

func followNonsense(t *testing.T, f crawl.Following) {
	u := urls(t, "http://a.test/1")[0]
	for _, s := range []crawl.Share{{}, {Index: 1, Of: 1}, {Index: -1, Of: 1}, {Of: 1 << 30}, {Epoch: 1 << 63, Of: 1}} {
		if err := f.Claimed(context.Background(), job, u, s); !crawl.IsPermanent(err) {
			t.Errorf("share %+v: error %v, want a permanent one", s, err)
		}
	}
}

// followAtOnce expects pages while their shares come, in any order. The last writer must see what the others wrote.
func followAtOnce(t *testing.T, f crawl.Following) {
	const pages, of, writers = 60, 3, 24
	ctx, u := context.Background(), manyURLs(t, pages, 7)
	var steps []func() error
	for i := range u {
		if i%2 == 0 {
			steps = append(steps, func() error { return f.Expect(ctx, Tasks(job, u[i], u[i+1])...) })
		}
		for n := range of {
			s := crawl.Share{Epoch: 2, Index: n, Of: of}
			steps = append(steps, func() error { return f.Claimed(ctx, job, u[i], s) })
		}
		steps = append(steps, func() error { return f.Claimed(ctx, job, u[i], crawl.Share{Epoch: 1, Index: 0, Of: 4}) })
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	rnd.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; i < len(steps); i += writers {
				if err := steps[i](); err != nil {
					t.Error(fmt.Errorf("step %d: %w", i, err))
				}
			}
		})
	}
	wg.Wait()
	wantFollowed(t, f, job)
}
