package rabbit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
)

// pages are events that may travel together.
func pages(n int) (msgs []bus.Message, ids map[crawl.MessageID]bool) {
	ids = map[crawl.MessageID]bool{}
	for i := range n {
		msgs = append(msgs, page(i))
		ids[page(i).ID] = true
	}
	return msgs, ids
}

func bundles(n int) func(*rabbit.Config) { return func(cfg *rabbit.Config) { cfg.Bundle = n } }

func TestEventsTravelTogetherAndLeasesAlone(t *testing.T) {
	for bundle, want := range map[int]int64{1: 10, 4: 3, 16: 1} {
		b := rabbittest.Bus(t, bundles(bundle))
		msgs, left := pages(10)
		for i := range 5 {
			msgs = append(msgs, fetchOf(i))
		}
		check(t, b.Publish(within(t), msgs...))
		if n, leases := depth(t, b, crawl.TopicParse).Ready, depth(t, b, crawl.TopicFetch).Ready; n != want || leases != 5 {
			t.Errorf("bundles of %d: 10 pages are %d messages, want %d, and 5 leases are %d", bundle, n, want, leases)
		}
		got := make(chan bus.Message, 100)
		consume(t, b, crawl.TopicParse, 3, func(_ context.Context, m bus.Message) error { got <- m; return nil })
		for len(left) > 0 {
			m := bustest.Await(t, got, "delivery")
			if !left[m.ID] || m.Redelivered || m.Attempt != 0 || m.Event.(*crawl.Page).Task.ID() != m.ID {
				t.Errorf("bundles of %d: delivered %+v", bundle, m)
			}
			delete(left, m.ID)
		}
		check(t, b.Quiet(within(t), crawl.TopicParse))
		if len(got) != 0 {
			t.Errorf("bundles of %d: some came twice", bundle)
		}
	}
}

// What one event of a bundle suffers is its own affair.
func TestAFailedEventDoesNotFailItsBundle(t *testing.T) {
	b := rabbittest.Bus(t)
	msgs, _ := pages(5)
	got := make(chan bus.Message, 100)
	consume(t, b, crawl.TopicParse, 2, func(_ context.Context, m bus.Message) error {
		got <- m
		switch {
		case m.ID == msgs[1].ID:
			return crawl.Permanent(errors.New("poison"))
		case m.ID == msgs[3].ID && m.Attempt == 0:
			return &bus.RetryError{After: time.Millisecond, Err: errors.New("not yet")}
		}
		return nil
	})
	check(t, b.Publish(within(t), msgs...))
	attempts := map[crawl.MessageID]int{}
	for range 6 {
		m := bustest.Await(t, got, "delivery")
		if attempts[m.ID]++; m.Attempt != attempts[m.ID]-1 {
			t.Errorf("delivered as attempt %d, %d before", m.Attempt, attempts[m.ID]-1)
		}
	}
	check(t, b.Quiet(within(t), crawl.TopicParse))
	letters := must(b.Dead(within(t), 9))(t)
	if len(letters) != 1 || letters[0].Message.ID != msgs[1].ID || letters[0].Message.Event == nil ||
		letters[0].Reason != "poison" {
		t.Errorf("dead letters %+v", letters)
	}
	if attempts[msgs[3].ID] != 2 || len(attempts) != 5 || len(got) != 0 {
		t.Errorf("delivered %v times", attempts)
	}
}

// A bundle whose consumer dies comes back event by event, marked, those that were done as well; none is lost.
func TestABundleHeldAtACrashIsRedeliveredEventByEvent(t *testing.T) {
	cfg := rabbittest.Config(t)
	b := rabbittest.OpenBus(t, cfg)
	msgs, left := pages(6)
	took := make(chan crawl.MessageID, 100)
	consume(t, b, crawl.TopicParse, 6, func(ctx context.Context, m bus.Message) error {
		if took <- m.ID; m.ID != msgs[5].ID {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	check(t, b.Publish(within(t), msgs...))
	for range msgs {
		bustest.Await(t, took, "delivery")
	}
	if n := depth(t, b, crawl.TopicParse).Unacked; n != 1 {
		t.Fatalf("%d messages in hand, want one bundle", n)
	}
	b.Kill()
	next := rabbittest.OpenBus(t, cfg)
	got := make(chan bus.Message, 100)
	consume(t, next, crawl.TopicParse, 2, func(_ context.Context, m bus.Message) error { got <- m; return nil })
	for len(left) > 0 {
		m := bustest.Await(t, got, "delivery after the death")
		if !m.Redelivered || !left[m.ID] {
			t.Errorf("came back as %+v", m)
		}
		delete(left, m.ID)
	}
	check(t, next.Quiet(within(t), crawl.TopicParse))
}

// What was not begun of a bundle goes back when what was begun is done; nothing of it is lost.
func TestStoppingWithinABundleLosesNothing(t *testing.T) {
	cfg := rabbittest.Config(t)
	b := rabbittest.OpenBus(t, cfg)
	msgs, left := pages(6)
	began, finish := make(chan crawl.MessageID, 100), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- b.Consume(ctx, crawl.TopicParse, bus.Workers{Min: 1, Max: 1}, func(_ context.Context, m bus.Message) error {
			began <- m.ID
			<-finish
			return nil
		})
	}()
	check(t, b.Publish(within(t), msgs...))
	first := bustest.Await(t, began, "delivery")
	cancel()
	close(finish)
	check(t, bustest.Await(t, done, "return of Consume"))
	delete(left, first)
	next := rabbittest.OpenBus(t, cfg)
	consume(t, next, crawl.TopicParse, 1, func(_ context.Context, m bus.Message) error { began <- m.ID; return nil })
	for len(left) > 0 {
		delete(left, bustest.Await(t, began, "delivery to the next"))
	}
	check(t, next.Quiet(within(t), crawl.TopicParse))
}
