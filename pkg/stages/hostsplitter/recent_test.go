package hostsplitter_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/hostsplitter"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// home owns the hosts whose third letter is 0 itself.
type home struct{ ring }

func (h home) View() (hostsplitter.View, error) { return h, nil }

func (h home) Owner(ctx context.Context, u weburl.URL) (string, error) {
	node, err := h.ring.Owner(ctx, u)
	if node == "node-0" {
		node = ""
	}
	return node, err
}

// splitting is a splitter with a cache, and what is known of claims.
type splitting struct {
	*testing.T
	h      *hostsplitter.Handler
	claims *storetest.Followed
	job    crawl.Job
}

const patience = 20 * time.Second

func newSplitting(t *testing.T) *splitting {
	s := &splitting{T: t, claims: storetest.NewFollowing(), job: crawl.DefaultJob()}
	s.job.ID = "j"
	s.over(s.claims)
	return s
}

// over lets the splitter ask a store.
func (s *splitting) over(store hostsplitter.Splits) {
	s.h = hostsplitter.New(home{ring{epoch: 7}},
		hostsplitter.NewRecent(hostsplitter.RecentConfig{Bits: 10, Patience: patience}, crawl.StaticJobs{"j": &s.job}, store))
}

// page is a page of this node that links to pages of three hosts: h01, h02 and this one.
func (s *splitting) page(n int) *crawl.Filtered {
	in := &crawl.Filtered{Batch: crawl.Batch{Job: "j", Page: urlOf(s.T, 0, n)}}
	for _, h := range []int{1, 2, 0} {
		in.Tasks = append(in.Tasks, crawl.Task{Job: "j", URL: urlOf(s.T, h, 1)})
	}
	return in
}

// split splits a page and returns its claims.
func (s *splitting) split(ctx context.Context, in *crawl.Filtered) (out []*crawl.Claim) {
	s.Helper()
	events, err := s.h.Handle(ctx, in)
	if err != nil {
		s.Fatal(err)
	}
	for i, e := range events {
		c := e.(*crawl.Claim)
		if c.Share.Index != i || c.Share.Of != len(events) {
			s.Errorf("share %+v is the %d of %d", c.Share, i, len(events))
		}
		out = append(out, c)
	}
	return out
}

func (s *splitting) claim(claims ...*crawl.Claim) {
	for _, c := range claims {
		if err := s.claims.Claimed(s.Context(), c.Job, c.Page, *c.Share); err != nil {
			s.Fatal(err)
		}
	}
}

// sends splits a page and checks how many claims that gives.
func (s *splitting) sends(ctx context.Context, in *crawl.Filtered, want int, why string) []*crawl.Claim {
	s.Helper()
	got := s.split(ctx, in)
	if len(got) != want {
		s.Errorf("%s: %d claims, want %d", why, len(got), want)
	}
	return got
}

func TestWhatIsClaimedIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := newSplitting(t), t.Context()
		first := s.sends(ctx, s.page(1), 3, "nothing is known")
		time.Sleep(2 * time.Second)
		s.sends(ctx, s.page(2), 3, "nothing is claimed")
		s.claim(first[1:]...)
		time.Sleep(2 * time.Second)
		s.sends(ctx, s.page(3), 3, "a share is missing")
		s.claim(first...)
		time.Sleep(2 * time.Second)
		left := s.sends(ctx, s.page(4), 1, "all is claimed")
		if left[0].Node != "" || len(left[0].Tasks) != 1 {
			t.Errorf("this node's own are left: %+v", left[0])
		}
		alone := s.page(5)
		alone.Tasks = alone.Tasks[:2]
		if left = s.sends(ctx, alone, 1, "a page is followed whatever is known"); len(left[0].Tasks) != 0 ||
			left[0].Node != "" {
			t.Errorf("an empty share for this node: %+v", left[0])
		}
		more := s.page(6)
		more.Tasks = append(more.Tasks, crawl.Task{Job: "j", URL: urlOf(t, 2, 2)})
		if left = s.sends(ctx, more, 2, "a new URL beside a known one"); len(left[0].Tasks) != 1 || left[0].Node != "node-2" {
			t.Errorf("the order is that of all URLs: %+v", left[0])
		}
	})
}

// knowing is a splitter that knows what page links to.
func knowing(t *testing.T) *splitting {
	s := newSplitting(t)
	s.claim(s.split(t.Context(), s.page(1))...)
	time.Sleep(2 * time.Second)
	s.sends(t.Context(), s.page(2), 1, "it knows")
	return s
}

func TestWhatIsNotSureIsSent(t *testing.T) {
	repeat := func(ctx context.Context) context.Context {
		return pipeline.WithDelivery(ctx, pipeline.Delivery{Repeat: true})
	}
	for name, c := range map[string]struct {
		change func(s *splitting, in *crawl.Filtered)
		in     func(context.Context) context.Context
	}{
		"a page that is fetched again": {change: func(_ *splitting, in *crawl.Filtered) { in.Again = true }},
		"a message that comes again":   {in: repeat},
		"a page that was split":        {change: func(s *splitting, in *crawl.Filtered) { in.Page = urlOf(s.T, 0, 2) }},
		"a page of another node":       {change: func(s *splitting, in *crawl.Filtered) { in.Page = urlOf(s.T, 3, 1) }},
		"a later revision of the job":  {change: func(s *splitting, in *crawl.Filtered) { s.job.Epoch, in.Epoch = 2, 2 }},
		"a continuous job":             {change: func(s *splitting, _ *crawl.Filtered) { s.job.Mode = crawl.ModeContinuous }},
		"popularity":                   {change: func(s *splitting, _ *crawl.Filtered) { s.job.Politeness.Popularity = 1 }},
		"a render":                     {change: func(_ *splitting, in *crawl.Filtered) { in.Render = &crawl.RenderMark{} }},
		"seeds": {change: func(_ *splitting, in *crawl.Filtered) {
			for i := range in.Tasks {
				in.Tasks[i].Seed = true
			}
		}},
		"exclusions, of URLs that are claimed": {change: func(_ *splitting, in *crawl.Filtered) {
			for _, t := range in.Tasks[:2] {
				in.Exclusions = append(in.Exclusions, crawl.Exclusion{URL: t.URL, Reason: "scope"})
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, ctx := knowing(t), t.Context()
				in := s.page(9)
				if c.change != nil {
					c.change(s, in)
				}
				if c.in != nil {
					ctx = c.in(ctx)
				}
				s.sends(ctx, in, 3, name)
			})
		})
	}
}

func TestAPageThatIsFetchedAgainTeachesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := newSplitting(t), t.Context()
		first := s.split(ctx, s.page(1))
		again := s.page(1)
		again.Again = true
		s.split(ctx, again)
		s.claim(first...)
		time.Sleep(2 * time.Second)
		s.sends(ctx, s.page(2), 3, "shares of either split make the count")
	})
}

func TestShareThatComesLateTeachesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := newSplitting(t), t.Context()
		first := s.split(ctx, s.page(1))
		time.Sleep(patience/2 + time.Second)
		s.claim(first...)
		s.sends(ctx, s.page(2), 3, "too late")
	})
}

// failing is a store that is away.
type failing struct{ err error }

func (f failing) Whole(context.Context, crawl.JobID, ...crawl.Split) ([]bool, error) {
	return nil, f.err
}

func TestAStoreThatFailsCostsOnlyTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSplitting(t)
		s.over(failing{errors.New("away")})
		s.split(t.Context(), s.page(1))
		time.Sleep(2 * time.Second)
		s.sends(t.Context(), s.page(2), 3, "nobody knows")
	})
}
