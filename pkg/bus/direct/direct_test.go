package direct_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/direct"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Minute

func over(t testing.TB, c *conn) *direct.Bus {
	t.Helper()
	cfg := direct.Default()
	cfg.Capacity, cfg.Spare, cfg.Grace, cfg.Log = 4, 8, time.Second, slog.New(slog.DiscardHandler)
	b, err := direct.New(c, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	bustest.Run(t, func(t *testing.T) bustest.Instance { return instance(t, newBroker()) })
}

func instance(t *testing.T, b *broker) bustest.Instance {
	c := dial(b)
	return bustest.Instance{Bus: over(t, c), Dead: b.letters, Restart: func(t *testing.T) bustest.Instance {
		c.drop(true)
		return instance(t, b)
	}}
}

func lease(n int) bus.Message {
	u, err := weburl.Parse("http://example.test/" + time.Duration(n).String())
	if err != nil {
		panic(err)
	}
	task := crawl.Task{Job: "j", URL: u, Depth: n, Lease: int64(n + 1)}
	return bus.Message{ID: task.ID(), Event: &crawl.Fetch{Task: task}}
}

// child is what a handler makes of a message.
func child(m bus.Message, n int, e crawl.Event) bus.Message {
	return bus.Message{ID: m.ID.Child("t", n), Event: e}
}

func pageOf(m bus.Message) *crawl.Page { return &crawl.Page{Task: m.Event.(*crawl.Fetch).Task} }

func outcomeOf(m bus.Message) *crawl.Outcome {
	return &crawl.Outcome{Task: m.Event.(*crawl.Fetch).Task}
}

// node runs consumers until the test or stop ends them.
type node struct {
	t      *testing.T
	bus    *direct.Bus
	ctx    context.Context //nolint:containedctx // of all consumers
	cancel context.CancelFunc
	ended  []chan struct{}
}

func start(t *testing.T, c *conn) *node {
	n := &node{t: t, bus: over(t, c)}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	t.Cleanup(n.stop)
	return n
}

func (n *node) stop() {
	n.cancel()
	for _, e := range n.ended {
		<-e
	}
}

func (n *node) consume(topic string, workers int, h bus.Handler) {
	ended := make(chan struct{})
	n.ended = append(n.ended, ended)
	go func() {
		defer close(ended)
		if err := n.bus.Consume(n.ctx, topic, bus.Workers{Min: 1, Max: workers}, h); err != nil {
			n.t.Errorf("Consume(%s) = %v", topic, err)
		}
	}()
	until(n.t, "the consumer of "+topic, func() bool { return n.bus.Consumed(topic) || n.ctx.Err() != nil })
}

// fetching publishes a page and an outcome for each lease.
func (n *node) fetching(workers int) {
	n.consume(crawl.TopicFetch, workers, func(ctx context.Context, m bus.Message) error {
		return n.bus.Publish(ctx, child(m, 0, pageOf(m)), child(m, 1, outcomeOf(m)))
	})
}

func (n *node) publish(msgs ...bus.Message) {
	n.t.Helper()
	if err := n.bus.Publish(n.t.Context(), msgs...); err != nil {
		n.t.Fatal(err)
	}
}

func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// held consumes a topic with a handler that waits. It returns what came, and what lets one go.
func (n *node) holding(topic string) (came <-chan bus.Message, goOn chan<- error) {
	in, out := make(chan bus.Message, 100), make(chan error)
	n.consume(topic, 1, func(ctx context.Context, m bus.Message) error {
		in <- m
		select {
		case err := <-out:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return in, out
}

func TestARootIsAnsweredAfterItsTreeAndNotBefore(t *testing.T) {
	b := newBroker()
	n := start(t, dial(b))
	pages, goOn := n.holding(crawl.TopicParse)
	outcomes := make(chan bus.Message, 1)
	n.consume(crawl.TopicOutcome, 1, func(_ context.Context, m bus.Message) error { outcomes <- m; return nil })
	n.fetching(2)
	n.publish(lease(1))
	bustest.Await(t, pages, "page")
	bustest.Await(t, outcomes, "outcome")
	if _, unacked := b.count(crawl.TopicFetch); unacked != 1 {
		t.Errorf("%d leases without an answer while a page is handled, want 1", unacked)
	}
	if b.total() != 1 {
		t.Errorf("%d messages in the broker, want the lease alone", b.total())
	}
	goOn <- nil
	until(t, "the lease is answered", func() bool { return b.total() == 0 })
}

// The control of the tests below: a broker that answers a root when its own handler is over loses the tree.
func TestNegativeControlARootThatIsAnsweredBeforeItsTree(t *testing.T) {
	for name, early := range map[string]bool{"after": false, "before": true} {
		t.Run(name, func(t *testing.T) {
			b := newBroker()
			c := dial(b)
			c.early = early
			n := start(t, c)
			pages, _ := n.holding(crawl.TopicParse)
			n.consume(crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
				return n.bus.Publish(ctx, child(m, 0, pageOf(m)))
			})
			n.publish(lease(1))
			bustest.Await(t, pages, "page")
			until(t, "the handler of the lease is over", func() bool { return !early || b.total() == 0 })
			c.drop(true) // kill -9
			if lost := b.total() == 0; lost != early {
				t.Errorf("after the kill the broker has %d messages", b.total())
			}
		})
	}
}

// Without room for an outcome it waits for the rest of its tree, and no outcome comes into the broker before its page
// has come to its end.
func TestAnOutcomeWithoutRoomFollowsItsPage(t *testing.T) {
	b := newBroker()
	n := start(t, dial(b))
	pages, goOn := n.holding(crawl.TopicParse)
	n.fetching(2) // no consumer of outcomes
	n.publish(lease(1))
	bustest.Await(t, pages, "page")
	until(t, "the outcome is in memory", func() bool { return n.bus.Held(crawl.TopicOutcome) == 1 })
	if waiting, _ := b.count(crawl.TopicOutcome); waiting != 0 {
		t.Errorf("%d outcomes in the broker before the page is done", waiting)
	}
	goOn <- nil
	until(t, "the outcome is in the broker and the lease is answered", func() bool {
		waiting, _ := b.count(crawl.TopicOutcome)
		return waiting == 1 && b.total() == 1 && n.bus.Held(crawl.TopicOutcome) == 0
	})
}

// What fails goes into the broker as between programs, and the root need not wait for it.
func TestAPartThatFailsIsRetriedAndBuriedByTheBroker(t *testing.T) {
	b := newBroker()
	n := start(t, dial(b))
	attempts := make(chan int, 10)
	n.consume(crawl.TopicParse, 1, func(_ context.Context, m bus.Message) error {
		attempts <- m.Attempt
		if m.Attempt == 0 {
			return &bus.RetryError{After: 50 * time.Millisecond, Err: errors.New("not yet")}
		}
		return crawl.Permanent(errors.New("poison"))
	})
	n.consume(crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
		return n.bus.Publish(ctx, child(m, 0, pageOf(m)))
	})
	n.publish(lease(1))
	for want := range 2 {
		if got := bustest.Await(t, attempts, "attempt"); got != want {
			t.Errorf("attempt %d, want %d", got, want)
		}
	}
	until(t, "a dead letter, and nothing else", func() bool { return len(b.letters()) == 1 && b.total() == 0 })
	if l := b.letters()[0]; l.Topic != crawl.TopicParse || l.Message.ID != lease(1).ID.Child("t", 0) ||
		l.Reason != "poison" {
		t.Errorf("buried as %+v", l)
	}
}

// A part whose retry cannot be stored brings its root back.
func TestAPartThatCannotBeKeptBringsItsRootBack(t *testing.T) {
	b := newBroker()
	c := dial(b)
	n := start(t, c)
	failed := make(chan struct{})
	n.consume(crawl.TopicParse, 1, func(context.Context, bus.Message) error {
		c.drop(true)
		close(failed)
		return errors.New("the store is away, and so is the broker")
	})
	n.consume(crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
		return n.bus.Publish(ctx, child(m, 0, pageOf(m)))
	})
	n.publish(lease(1))
	bustest.Await(t, failed, "failure")
	until(t, "the lease is back", func() bool { waiting, _ := b.count(crawl.TopicFetch); return waiting == 1 })
}

// A page that has been in doubt once goes over the broker, where its deliveries are counted.
func TestWhatIsInDoubtGoesOverTheBroker(t *testing.T) {
	again := lease(1)
	task := again.Event.(*crawl.Fetch).Task
	task.Repeat = true
	marked := lease(2)
	marked.Redelivered = true
	for name, m := range map[string]bus.Message{"leased before": {ID: again.ID, Event: &crawl.Fetch{Task: task}},
		"delivered before": marked} {
		t.Run(name, func(t *testing.T) {
			b := newBroker()
			n := start(t, dial(b))
			pages, goOn := n.holding(crawl.TopicParse)
			n.consume(crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
				return n.bus.Publish(ctx, child(m, 0, pageOf(m)))
			})
			n.publish(m)
			bustest.Await(t, pages, "page")
			until(t, "the lease is answered while its page is handled", func() bool {
				waiting, unacked := b.count(crawl.TopicFetch)
				_, page := b.count(crawl.TopicParse)
				return waiting+unacked == 0 && page == 1
			})
			goOn <- nil
			until(t, "nothing is left", func() bool { return b.total() == 0 })
		})
	}
}
