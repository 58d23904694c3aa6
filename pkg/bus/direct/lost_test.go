package direct_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
)

// The connection is lost while a page is handled: its tree goes on, the lease that comes again joins it, and is
// answered with it.
func TestATreeOutlivesItsConnection(t *testing.T) {
	b := newBroker()
	c := dial(b)
	n := start(t, c)
	pages, goOn := n.holding(crawl.TopicParse)
	leases := make(chan bus.Message, 10)
	n.consume(crawl.TopicFetch, 2, func(ctx context.Context, m bus.Message) error {
		leases <- m
		return n.bus.Publish(ctx, child(m, 0, pageOf(m)))
	})
	n.publish(lease(1))
	bustest.Await(t, pages, "page")
	bustest.Await(t, leases, "lease")
	c.drop(false)
	until(t, "the second delivery has joined", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.rests == 2
	})
	goOn <- nil
	until(t, "the lease is answered", func() bool { return b.total() == 0 })
	if len(leases) > 0 {
		t.Errorf("the lease was handled again: %+v", <-leases)
	}
}

// A lease of the same id that is another event does not join: the next attempt of a visit.
func TestAnotherAttemptIsNoSecondDelivery(t *testing.T) {
	b := newBroker()
	n := start(t, dial(b))
	pages, goOn := n.holding(crawl.TopicParse)
	leases := make(chan bus.Message, 10)
	n.consume(crawl.TopicFetch, 2, func(ctx context.Context, m bus.Message) error {
		leases <- m
		return n.bus.Publish(ctx, child(m, 0, pageOf(m)))
	})
	first, second := lease(1), lease(1)
	task := second.Event.(*crawl.Fetch).Task
	task.Attempt, task.Lease = 1, 77
	second = bus.Message{ID: first.ID, Event: &crawl.Fetch{Task: task}, Redelivered: true}
	n.publish(first)
	bustest.Await(t, pages, "page")
	bustest.Await(t, leases, "lease")
	n.publish(second)
	if m := bustest.Await(t, leases, "the second attempt"); m.Event.(*crawl.Fetch).Task.Lease != 77 {
		t.Errorf("handled %+v", m)
	}
	goOn <- nil
	bustest.Await(t, pages, "page of the second attempt")
	goOn <- nil
	until(t, "nothing is left", func() bool { return b.total() == 0 })
}

// A stop leaves all that was not begun to the broker, and waits for what was.
func TestAStopLeavesNothingInMemory(t *testing.T) {
	b := newBroker()
	n := start(t, dial(b))
	began, goOn := make(chan struct{}, 100), make(chan struct{})
	n.consume(crawl.TopicParse, 1, func(context.Context, bus.Message) error {
		began <- struct{}{}
		<-goOn
		return nil
	})
	n.fetching(8)
	for i := range 10 {
		n.publish(lease(i))
	}
	bustest.Await(t, began, "page")
	until(t, "pages wait in memory", func() bool { return n.bus.Held(crawl.TopicParse) > 1 })
	stopped := make(chan struct{})
	go func() { defer close(stopped); n.stop() }()
	<-n.ctx.Done()
	close(goOn)
	bustest.Await(t, stopped, "end of the stop")
	if left := n.bus.Held(crawl.TopicParse) + n.bus.Held(crawl.TopicOutcome); left != 0 {
		t.Errorf("%d messages are in memory after the stop", left)
	}
	count := func(topic string) int { waiting, unacked := b.count(topic); return waiting + unacked }
	leases, pages, outcomes := count(crawl.TopicFetch), count(crawl.TopicParse), count(crawl.TopicOutcome)
	if handled := 1 + len(began); leases+outcomes != 10 || leases+pages+handled != 10 {
		t.Errorf("after the stop there are %d leases, %d pages, %d outcomes, and %d pages were handled", leases, pages,
			outcomes, handled)
	}
}

// A topic whose consumer ends while others go on, as a frontier's does, leaves what it had to the ends of the trees.
func TestAConsumerThatEndsAlone(t *testing.T) {
	b := newBroker()
	n := start(t, dial(b))
	pages, goOn := n.holding(crawl.TopicParse)
	ctx, cancel := context.WithCancel(context.Background())
	took, ended := make(chan struct{}, 10), make(chan struct{})
	go func() {
		defer close(ended)
		_ = n.bus.Consume(ctx, crawl.TopicOutcome, bus.Workers{Min: 1, Max: 1},
			func(ctx context.Context, _ bus.Message) error {
				took <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			})
	}()
	n.fetching(4)
	n.publish(lease(1), lease(2))
	bustest.Await(t, took, "outcome")
	until(t, "the second outcome waits in memory", func() bool { return n.bus.Held(crawl.TopicOutcome) == 2 })
	cancel()
	bustest.Await(t, ended, "end of the frontier")
	for range 2 {
		bustest.Await(t, pages, "page")
		goOn <- nil
	}
	until(t, "the outcomes are in the broker, or their leases are", func() bool {
		outcomes, _ := b.count(crawl.TopicOutcome)
		return outcomes >= 1 && n.bus.Held(crawl.TopicOutcome) == 0
	})
	if err := within(t, func(ctx context.Context) error { return n.bus.Quiet(ctx, crawl.TopicParse) }); err != nil {
		t.Error(err)
	}
}

func within(t *testing.T, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return f(ctx)
}

// Quiet does not overlook what is in memory.
func TestQuietWaitsForWhatIsInMemory(t *testing.T) {
	b := newBroker()
	n := start(t, dial(b))
	pages, goOn := n.holding(crawl.TopicParse)
	n.fetching(1)
	n.publish(lease(1))
	bustest.Await(t, pages, "page")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for _, topic := range []string{crawl.TopicParse, crawl.TopicOutcome, crawl.TopicFetch} {
		if n.bus.Quiet(ctx, topic) == nil {
			t.Errorf("topic %s is said to be quiet", topic)
		}
	}
	goOn <- nil
	n.consume(crawl.TopicOutcome, 1, func(context.Context, bus.Message) error { return nil })
	if err := within(t, func(ctx context.Context) error {
		return n.bus.Quiet(ctx, crawl.TopicFetch, crawl.TopicParse, crawl.TopicOutcome)
	}); err != nil {
		t.Error(err)
	}
}

// Whatever is killed, cut or stopped, and whenever: the end of each story is reached, and the broker is empty then.
func TestNothingIsLostAtRandom(t *testing.T) {
	for round := range 20 {
		b := newBroker()
		stories := &stories{ended: map[crawl.MessageID]bool{}}
		const leases = 60
		for i := range leases {
			if err := dial(b).Publish(t.Context(), lease(i)); err != nil {
				t.Fatal(err)
			}
		}
		for life := 0; ; life++ {
			c := dial(b)
			n := start(t, c)
			stories.run(n)
			if life == 6 {
				until(t, "all is done", func() bool { return b.total() == 0 })
				n.stop()
				break
			}
			time.Sleep(rand.N(3 * time.Millisecond)) // an instant of no meaning
			switch rand.IntN(3) {
			case 0:
				c.drop(true)
			case 1:
				c.drop(false)
				time.Sleep(rand.N(time.Millisecond))
			}
			n.stop()
			c.drop(true)
		}
		if len(stories.ended) != leases {
			t.Fatalf("round %d: %d stories of %d came to their end", round, len(stories.ended), leases)
		}
	}
}

// stories are those of leases, each of which ends with a document.
type stories struct {
	mu    sync.Mutex
	ended map[crawl.MessageID]bool
}

func (s *stories) run(n *node) {
	n.consume(crawl.TopicFetch, 8, func(ctx context.Context, m bus.Message) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return n.bus.Publish(ctx, child(m, 0, pageOf(m)), child(m, 1, outcomeOf(m)))
	})
	n.consume(crawl.TopicParse, 2, func(ctx context.Context, m bus.Message) error {
		time.Sleep(rand.N(200 * time.Microsecond))
		return n.bus.Publish(ctx, child(m, 0, &crawl.Document{Page: *m.Event.(*crawl.Page)}))
	})
	n.consume(crawl.TopicContentSeen, 4, func(_ context.Context, m bus.Message) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		task := m.Event.(*crawl.Document).Page.Task
		s.ended[task.ID()] = true
		return nil
	})
	n.consume(crawl.TopicOutcome, 2, func(context.Context, bus.Message) error { return nil })
}
