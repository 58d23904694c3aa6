package rabbit_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/direct"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

var errNotYet = errors.New("not yet")

// wholeConfig is that of a node in one process.
func wholeConfig(t *testing.T) rabbit.Config {
	return rabbittest.Config(t, func(c *rabbit.Config) { c.Held, c.Grace = 64, time.Second })
}

// whole is the bus of a node in one process over b.
func whole(t *testing.T, b *rabbit.Bus) *direct.Bus {
	t.Helper()
	cfg := direct.Default()
	cfg.Grace, cfg.Log = time.Second, slog.New(slog.DiscardHandler)
	return must(direct.New(b, cfg))(t)
}

func wholeInstance(t *testing.T, cfg rabbit.Config) bustest.Instance {
	b := rabbittest.OpenBus(t, cfg)
	check(t, b.Declare(within(t)))
	return bustest.Instance{Bus: whole(t, b), Dead: func() (out []bus.DeadLetter) {
		for _, l := range must(b.Dead(within(t), 100))(t) {
			out = append(out, l.DeadLetter)
		}
		return out
	}, Restart: func(t *testing.T) bustest.Instance {
		b.Kill()
		return wholeInstance(t, cfg)
	}}
}

func TestConformanceOfAWholeNode(t *testing.T) {
	bustest.Run(t, func(t *testing.T) bustest.Instance { return wholeInstance(t, wholeConfig(t)) })
}

// parsing runs a whole node whose pages wait in its parser.
func parsing(t *testing.T, b *rabbit.Bus) (d *direct.Bus, leases, pages chan bus.Message, goOn chan error) {
	d, leases, pages, goOn = whole(t, b), make(chan bus.Message, 10), make(chan bus.Message, 10), make(chan error)
	consumeWhole(t, d, crawl.TopicFetch, func(ctx context.Context, m bus.Message) error {
		leases <- m
		return d.Publish(ctx, bus.Message{ID: m.ID.Child("t", 0), Event: &crawl.Page{Task: m.Event.(*crawl.Fetch).Task}})
	})
	consumeWhole(t, d, crawl.TopicParse, func(_ context.Context, m bus.Message) error {
		pages <- m
		return <-goOn
	})
	return d, leases, pages, goOn
}

func consumeWhole(t *testing.T, d *direct.Bus, topic string, h bus.Handler) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := d.Consume(ctx, topic, bus.Workers{Min: 1, Max: 2}, h); err != nil {
			t.Errorf("Consume(%s) = %v", topic, err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// The connection to the broker is lost while the page of a lease is parsed: the page goes on, and the lease is answered
// with it and not fetched again.
func TestATreeOutlivesTheConnectionOfItsRoot(t *testing.T) {
	b := rabbittest.OpenBus(t, wholeConfig(t))
	d, leases, pages, goOn := parsing(t, b)
	check(t, d.Publish(within(t), fetchOf(1)))
	bustest.Await(t, pages, "page")
	bustest.Await(t, leases, "lease")
	b.Drop()
	until(t, "the lease comes again", func() bool { return depth(t, b, crawl.TopicFetch+".retry").Unacked == 1 })
	goOn <- nil
	check(t, d.Quiet(within(t), crawl.TopicFetch, crawl.TopicParse))
	if len(leases) > 0 {
		t.Errorf("the lease was handled again: %+v", <-leases)
	}
}

// What a queue that is deleted held goes on in memory, and the consumer finds the queue that is made anew.
func TestAWholeNodeOutlivesADeletedQueue(t *testing.T) {
	cfg := wholeConfig(t)
	b := rabbittest.OpenBus(t, cfg)
	d, leases, pages, goOn := parsing(t, b)
	check(t, d.Publish(within(t), fetchOf(1)))
	bustest.Await(t, pages, "page")
	bustest.Await(t, leases, "lease")
	_, err := raw(t, withUserOf(t, cfg.Subsystems, servicetest.AMQP(t))).QueueDelete(crawl.TopicFetch, false, false, false)
	check(t, err)
	check(t, d.Publish(within(t), fetchOf(2)))
	bustest.Await(t, leases, "lease after the deletion")
	goOn <- nil
	bustest.Await(t, pages, "second page")
	goOn <- nil
	check(t, d.Quiet(within(t), crawl.TopicFetch, crawl.TopicParse))
}

// A page that fails lies in the broker's retries and dead letters as one of a program of its own would.
func TestAPageThatFailsInAWholeNodeIsBuriedWithItsReason(t *testing.T) {
	b := rabbittest.OpenBus(t, wholeConfig(t))
	d, _, pages, goOn := parsing(t, b)
	check(t, d.Publish(within(t), fetchOf(1)))
	first := bustest.Await(t, pages, "page")
	goOn <- &bus.RetryError{After: time.Millisecond, Err: errNotYet}
	if again := bustest.Await(t, pages, "retry"); again.ID != first.ID || again.Attempt != 1 ||
		again.Event.(*crawl.Page).Task != first.Event.(*crawl.Page).Task {
		t.Errorf("retried as %+v", again)
	}
	goOn <- crawl.Permanent(errNotYet)
	until(t, "a dead letter", func() bool { return depth(t, b, "dead").Ready == 1 })
	if l := must(b.Dead(within(t), 9))(t)[0]; l.Topic != crawl.TopicParse || l.Reason != errNotYet.Error() ||
		l.Message.ID != first.ID || l.Message.Event == nil {
		t.Errorf("buried as %+v", l)
	}
	check(t, d.Quiet(within(t), crawl.TopicFetch, crawl.TopicParse))
}
