package node

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// slow is a fetcher whose request takes a second.
type slow struct{ requests, ended atomic.Int64 }

func (s *slow) Handle(ctx context.Context, f *crawl.Fetch) ([]crawl.Event, error) {
	s.requests.Add(1)
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(time.Second):
		s.ended.Add(1)
		return []crawl.Event{&crawl.Outcome{Task: f.Task, Verdict: crawl.VerdictDone}}, nil
	}
}

// Promise of the ring: a node asks no host once its place may be another's.
func TestRequestsEndWithTheTenure(t *testing.T) {
	for name, tt := range map[string]struct {
		leased        uint64
		change        func(now *atomic.Uint64) // half a second after the request began; nil: nothing changes
		contacted     bool
		want          crawl.Verdict
		begin, finish int64
	}{
		"nothing changes":      {leased: 3, want: crawl.VerdictDone, begin: 1, finish: 1},
		"leased under another": {leased: 2, want: crawl.VerdictInterrupted},
		"the registration is gone": {leased: 3, change: func(now *atomic.Uint64) { now.Store(0) }, contacted: true,
			want: crawl.VerdictInterrupted, begin: 1},
		"there is another": {leased: 3, change: func(now *atomic.Uint64) { now.Store(4) }, contacted: true,
			want: crawl.VerdictInterrupted, begin: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now atomic.Uint64
				now.Store(3)
				f := &slow{}
				held := newTenure(f, func() (uint64, bool) { return now.Load(), now.Load() != 0 })
				changed := make(chan struct{}, 1)
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				go held.run(ctx, changed)
				if tt.change != nil {
					time.AfterFunc(500*time.Millisecond, func() { tt.change(&now); changed <- struct{}{} })
				}
				events, err := held.Handle(ctx, &crawl.Fetch{Tenure: tt.leased})
				if err != nil || len(events) != 1 {
					t.Fatalf("%v, %v", events, err)
				}
				out := events[0].(*crawl.Outcome)
				if out.Verdict != tt.want || f.requests.Load() != tt.begin || f.ended.Load() != tt.finish ||
					tt.want == crawl.VerdictInterrupted && out.Contacted() != tt.contacted {
					t.Errorf("%v (contacted %v), %d requests, %d ended", out.Verdict, out.Contacted(), f.requests.Load(),
						f.ended.Load())
				}
			})
		})
	}
	t.Run("a shutdown is none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(context.Background())
			time.AfterFunc(time.Millisecond, stop)
			held := newTenure(&slow{}, func() (uint64, bool) { return 3, true })
			if _, err := held.Handle(ctx, &crawl.Fetch{Tenure: 3}); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v: the message must come back", err)
			}
		})
	})
}
