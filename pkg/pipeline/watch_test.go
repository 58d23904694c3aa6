package pipeline_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/membus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// graves keeps dead letters.
type graves chan bus.DeadLetter

func (g graves) Bury(_ context.Context, d bus.DeadLetter) error { g <- d; return nil }

// Over the bus of one process, too, a handler that never returns holds neither its stage nor the end of the crawl, and
// its message is buried.
func TestAHandlerThatNeverReturnsHoldsNobody(t *testing.T) {
	for name, obeys := range map[string]bool{"it goes by its context": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dead, open, stuck := make(graves, 1), make(chan struct{}), message()
				b := membus.New(membus.Config{Capacity: 8, Dead: dead, Log: slog.New(slog.DiscardHandler)})
				var calls atomic.Int64
				done := make(chan struct{}, 8)
				h := handler(func(ctx context.Context, _ *crawl.Fetch) ([]crawl.Event, error) {
					if pipeline.DeliveryOf(ctx).ID != stuck.ID {
						done <- struct{}{}
						return nil, nil
					}
					calls.Add(1)
					if obeys {
						<-ctx.Done()
						return nil, context.Cause(ctx)
					}
					<-open
					return nil, nil
				})
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Workers: bus.Workers{Min: 1, Max: 1},
					Limit: time.Minute, Log: slog.New(slog.DiscardHandler)}
				go func() { ended <- pipeline.Run(ctx, b, cfg, h) }()
				good := bus.Message{ID: stuck.ID.Child("other", 0), Event: &crawl.Fetch{}}
				if err := b.Publish(ctx, stuck, good); err != nil {
					t.Fatal(err)
				}
				<-done // by the only worker's place, while the other call may still be under way
				letter := <-dead
				if !strings.Contains(letter.Reason, "stage test: cut off after 1m0s") || letter.Message.ID != stuck.ID {
					t.Errorf("buried %+v", letter)
				}
				synctest.Wait()
				if want := map[bool]int64{true: 3, false: 1}[obeys]; calls.Load() != want || b.Outstanding() != 0 {
					t.Errorf("%d calls, want %d; %d messages outstanding", calls.Load(), want, b.Outstanding())
				}
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				close(open)
				synctest.Wait()
				if b.Outstanding() != 0 {
					t.Errorf("%d messages outstanding after the late return", b.Outstanding())
				}
			})
		})
	}
}

// A stop waits for such a handler for some seconds, and leaves its message to the journal.
func TestAStopOfTheBusDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead, open := make(graves, 1), make(chan struct{})
		b := membus.New(membus.Config{Capacity: 8, Dead: dead, Log: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		h := handler(func(context.Context, *crawl.Fetch) ([]crawl.Event, error) { stop(); <-open; return nil, nil })
		cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Workers: bus.Workers{Min: 1, Max: 2}, Limit: time.Hour,
			Log: slog.New(slog.DiscardHandler)}
		if err := b.Publish(ctx, message()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := pipeline.Run(ctx, b, cfg, h); err != nil || time.Since(began) > time.Minute || len(dead) > 0 ||
			b.Outstanding() != 1 {
			t.Errorf("stopped after %v with %v; %d buried, %d outstanding", time.Since(began), err, len(dead), b.Outstanding())
		}
		close(open)
		synctest.Wait()
	})
}

// Time in which handlers wait for people, such as for room on a disk, does not count against the limit; time after that
// does.
func TestHeldTimeDoesNotCountAgainstTheLimit(t *testing.T) {
	for name, mended := range map[string]bool{"it goes on": true, "it stays stuck": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dead, open := make(graves, 1), make(chan struct{})
				b := membus.New(membus.Config{Capacity: 8, Dead: dead, Log: slog.New(slog.DiscardHandler)})
				ctx, stop := context.WithCancel(t.Context())
				var held atomic.Bool
				held.Store(true)
				h := handler(func(context.Context, *crawl.Fetch) ([]crawl.Event, error) { <-open; return nil, nil })
				cfg := pipeline.Config{Name: "test", Topic: crawl.TopicFetch, Workers: bus.Workers{Min: 1, Max: 1},
					Limit: time.Minute, Held: held.Load, Log: slog.New(slog.DiscardHandler)}
				ended := make(chan error, 1)
				go func() { ended <- pipeline.Run(ctx, b, cfg, h) }()
				if err := b.Publish(ctx, message()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour) // of the bubble
				if len(dead) > 0 || b.Outstanding() != 1 {
					t.Errorf("after an hour: %d buried, %d outstanding", len(dead), b.Outstanding())
				}
				held.Store(false)
				if mended {
					close(open)
				}
				time.Sleep(time.Hour)
				if want := map[bool]int{true: 0, false: 1}[mended]; len(dead) != want || b.Outstanding() != 0 {
					t.Errorf("%d buried, want %d; %d outstanding", len(dead), want, b.Outstanding())
				}
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if !mended {
					close(open)
				}
				synctest.Wait()
			})
		})
	}
}
