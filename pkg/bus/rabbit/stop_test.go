package rabbit_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
)

// A consumer that stops finishes the messages it is handling, with a valid context, and returns the others at once.
func TestStoppingFinishesRunningHandlers(t *testing.T) {
	cfg := rabbittest.Config(t)
	b := rabbittest.OpenBus(t, cfg)
	check(t, b.Publish(within(t), fetchOf(1), fetchOf(2), fetchOf(3)))
	began, finish := make(chan bus.Message, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- b.Consume(ctx, crawl.TopicFetch, bus.Workers{Min: 1, Max: 1}, func(ctx context.Context, m bus.Message) error {
			began <- m
			<-finish
			return errors.Join(ctx.Err(), b.Publish(ctx,
				bus.Message{ID: m.ID, Event: &crawl.Outcome{Task: m.Event.(*crawl.Fetch).Task}}))
		})
	}()
	first := bustest.Await(t, began, "delivery")
	cancel()
	until(t, "the others are given back", func() bool { return depth(t, b, crawl.TopicFetch).Ready == 2 })
	close(finish)
	check(t, bustest.Await(t, done, "return of Consume"))
	if n := depth(t, b, crawl.TopicOutcome).Ready; n != 1 {
		t.Errorf("%d outputs, want 1", n)
	}
	next := rabbittest.OpenBus(t, cfg)
	got := make(chan crawl.MessageID, 9)
	consume(t, next, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error { got <- m.ID; return nil })
	for range 2 {
		if bustest.Await(t, got, "delivery to the next") == first.ID {
			t.Error("what was finished came back")
		}
	}
	check(t, next.Quiet(within(t), crawl.TopicFetch))
	if len(got) != 0 {
		t.Error("more than the rest came back")
	}
}

func TestHandlersThatDoNotFinishAreCutOffAfterTheGrace(t *testing.T) {
	cfg := rabbittest.Config(t)
	cfg.Grace = 50 * time.Millisecond
	b := rabbittest.OpenBus(t, cfg)
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	stop := consume(t, b, crawl.TopicFetch, 1, func(ctx context.Context, _ bus.Message) error {
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return ctx.Err()
	})
	check(t, b.Publish(within(t), fetchOf(1)))
	bustest.Await(t, began, "delivery")
	stop()
	bustest.Await(t, ended, "end of the handler's context")
	until(t, "the message is back", func() bool { return depth(t, b, crawl.TopicFetch).Ready == 1 })
}

// When a connection is lost the broker redelivers its messages to others, so their handlers must end first.
func TestALostConnectionEndsTheHandlersContexts(t *testing.T) {
	b := rabbittest.Bus(t)
	const workers = 3
	began, again := make(chan struct{}, workers), make(chan bus.Message, workers)
	var handling [workers]atomic.Bool
	consume(t, b, crawl.TopicFetch, workers, func(ctx context.Context, m bus.Message) error {
		i := m.Event.(*crawl.Fetch).Task.Depth
		if handling[i].Swap(true) {
			t.Error("handled twice at once")
		}
		defer handling[i].Store(false)
		if m.Redelivered {
			again <- m
			return nil
		}
		began <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	for i := range workers {
		m := fetchOf(i)
		m.Event.(*crawl.Fetch).Task.Depth = i
		check(t, b.Publish(within(t), m))
	}
	for range workers {
		bustest.Await(t, began, "delivery")
	}
	b.Drop()
	for range workers {
		bustest.Await(t, again, "second delivery")
	}
}

func TestAClosedBusSaysSo(t *testing.T) {
	b := rabbittest.Bus(t)
	check(t, b.Publish(within(t), fetchOf(1)))
	check(t, b.Close())
	if err := b.Publish(within(t), fetchOf(1)); !errors.Is(err, rabbit.ErrClosed) {
		t.Errorf("Publish = %v", err)
	}
	if err := b.Consume(within(t), crawl.TopicFetch, bus.Workers{Min: 1, Max: 1}, nil); !errors.Is(err, rabbit.ErrClosed) {
		t.Errorf("Consume = %v", err)
	}
}

func TestQuietWaitsForWhatIsBeingHandled(t *testing.T) {
	b := rabbittest.Bus(t)
	check(t, b.Declare(within(t)))
	check(t, b.Quiet(within(t), crawl.TopicFetch, crawl.TopicOutcome))
	began, finish := make(chan struct{}), make(chan struct{})
	consume(t, b, crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
		close(began)
		<-finish
		return nil
	})
	check(t, b.Publish(within(t), fetchOf(1)))
	bustest.Await(t, began, "delivery")
	short, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := b.Quiet(short, crawl.TopicFetch); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Quiet = %v while a message is being handled", err)
	}
	close(finish)
	check(t, b.Quiet(within(t), crawl.TopicFetch))
}
