package pipeline_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// sessions is a bus that counts who consumes.
type sessions struct{ now, all int }

func (*sessions) Publish(context.Context, ...bus.Message) error { return nil }

func (s *sessions) Consume(ctx context.Context, _ string, _ bus.Workers, _ bus.Handler) error {
	s.now, s.all = s.now+1, s.all+1
	<-ctx.Done()
	s.now--
	return nil
}

func TestAStageWithABoundOfZeroConsumesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, bound := &sessions{}, bus.NewBound(0)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- pipeline.Run(ctx, s, pipeline.Config{Name: "test", Topic: crawl.TopicFetch,
				Workers: bus.Workers{Min: 1, Max: 1, Bound: bound},
				Log:     slog.New(slog.DiscardHandler)}, handler(nil))
		}()
		for _, step := range []struct{ bound, now, all int }{{0, 0, 0}, {2, 1, 1}, {16, 1, 1}, {0, 0, 1}, {1, 1, 2}} {
			bound.Set(step.bound)
			synctest.Wait()
			if s.now != step.now || s.all != step.all {
				t.Errorf("with a bound of %d %d consume, %d did: want %d, %d", step.bound, s.now, s.all, step.now, step.all)
			}
		}
		cancel()
		if err := <-done; err != nil || s.now != 0 {
			t.Errorf("the stage ended with %v, and %d consume", err, s.now)
		}
	})
}
