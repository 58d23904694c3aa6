package storetest

import (
	"context"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// SplitsFollowing is a crawl.Following that says which splits are claimed.
type SplitsFollowing interface {
	crawl.Following
	crawl.Splits
}

// Splits checks the promises of crawl.Splits. Each subtest gets one of its own.
func Splits(t *testing.T, open func(t *testing.T) SplitsFollowing) {
	for _, c := range []struct {
		name  string
		steps []step
		asked step
		whole bool
	}{
		{"nothing is claimed", []step{{}}, step{Epoch: 1, Of: 1}, false},
		{"all is claimed", []step{{}, {Epoch: 1, Index: 1, Of: 2}, {Epoch: 1, Index: 0, Of: 2}}, step{Epoch: 1, Of: 2}, true},
		{"nobody expected it", []step{{Epoch: 1, Index: 0, Of: 1}}, step{Epoch: 1, Of: 1}, true},
		{"a share is missing", []step{{}, {Epoch: 1, Index: 1, Of: 2}}, step{Epoch: 1, Of: 2}, false},
		{"another table", []step{{}, {Epoch: 2, Index: 0, Of: 1}}, step{Epoch: 1, Of: 1}, false},
		{"split again into more", []step{{}, {Epoch: 1, Index: 0, Of: 1}, {Epoch: 1, Index: 0, Of: 2}}, step{Epoch: 1, Of: 1},
			false},
		{"as more it is whole", []step{{}, {Epoch: 1, Index: 0, Of: 1}, {Epoch: 1, Index: 0, Of: 2},
			{Epoch: 1, Index: 1, Of: 2}}, step{Epoch: 1, Of: 2}, true},
		{"no split has no shares", []step{{}}, step{}, false},
	} {
		t.Run(c.name, func(t *testing.T) { splitOf(t, open(t), c.steps, c.asked, c.whole) })
	}
	t.Run("many at once, in their order, and of their job", func(t *testing.T) { splitsAtOnce(t, open(t)) })
}

func splitOf(t *testing.T, f SplitsFollowing, steps []step, asked step, whole bool) {
	ctx, u := context.Background(), urls(t, "http://a.test/page")[0]
	for _, s := range steps {
		if s.Of == 0 {
			check(t, f.Expect(ctx, Tasks(job, u)...))
			continue
		}
		check(t, f.Claimed(ctx, job, u, s))
	}
	got, err := f.Whole(ctx, job, crawl.Split{Page: u, Epoch: asked.Epoch, Of: asked.Of})
	check(t, err)
	if len(got) != 1 || got[0] != whole {
		t.Errorf("%v, want %v", got, whole)
	}
}

func splitsAtOnce(t *testing.T, f SplitsFollowing) {
	ctx, pages := context.Background(), urls(t, "http://a.test/1", "http://a.test/2", "http://b.test/3")
	check(t, f.Expect(ctx, Tasks(job, pages...)...))
	check(t, f.Claimed(ctx, job, pages[0], crawl.Share{Epoch: 1, Of: 1}))
	check(t, f.Claimed(ctx, job, pages[2], crawl.Share{Epoch: 1, Of: 1}))
	var asked []crawl.Split
	for _, i := range []int{2, 1, 0, 2} { // one twice
		asked = append(asked, crawl.Split{Page: pages[i], Epoch: 1, Of: 1})
	}
	got, err := f.Whole(ctx, job, asked...)
	check(t, err)
	if want := []bool{true, false, true, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	check(t, f.Forget(ctx, job, pages[2].Key()))
	if got, err = f.Whole(ctx, job, asked...); err != nil || slices.Contains([]bool{got[0], got[1], got[3]}, true) ||
		!got[2] {
		t.Errorf("forgotten: %v, %v", got, err)
	}
	if got, err = f.Whole(ctx, job); err != nil || len(got) != 0 {
		t.Errorf("of none: %v, %v", got, err)
	}
}
