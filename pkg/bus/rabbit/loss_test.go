package rabbit_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// pipeline publishes n messages, passes them through a stage, and returns when each has come out at the other end. at
// is called with the number of handled messages.
func pipeline(t *testing.T, b *rabbit.Bus, n int, at func(handled int64)) {
	t.Helper()
	var handled atomic.Int64
	consume(t, b, crawl.TopicFetch, 16, func(ctx context.Context, m bus.Message) error {
		at(handled.Add(1))
		return b.Publish(ctx, bus.Message{ID: m.ID.Child("t", 0), Event: &crawl.Outcome{Task: m.Event.(*crawl.Fetch).Task}})
	})
	var mu sync.Mutex
	want, all := map[crawl.MessageID]bool{}, make(chan struct{})
	for i := range n {
		want[fetchOf(i).ID.Child("t", 0)] = true
	}
	consume(t, b, crawl.TopicOutcome, 16, func(_ context.Context, m bus.Message) error {
		mu.Lock()
		defer mu.Unlock()
		if delete(want, m.ID); len(want) == 0 {
			select {
			case <-all:
			default:
				close(all)
			}
		}
		return nil
	})
	publishAll2(t, b, n)
	bustest.Await(t, all, "full set of outputs")
}

func publishAll2(t *testing.T, b *rabbit.Bus, n int) {
	const publishers = 8
	var wg sync.WaitGroup
	for p := range publishers {
		wg.Go(func() {
			for i := p; i < n; i += publishers {
				if err := b.Publish(within(t), fetchOf(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// Connections that break at any time, while many messages are being published, handled and acknowledged, lose none.
func TestNothingIsLostWhenConnectionsBreak(t *testing.T) {
	cfg, proxy := throughProxy(t, rabbittest.Config(t))
	pipeline(t, rabbittest.OpenBus(t, cfg), 3000, func(handled int64) {
		if handled%500 == 250 {
			proxy.cut()
		}
	})
}

// A broker that does not confirm, on a connection that lives: the message is published again over another one. The log
// says so: after three minutes without a heartbeat the connection would end by itself.
func TestConfirmsThatNeverCome(t *testing.T) {
	cfg, proxy := throughProxy(t, rabbittest.Config(t))
	var log logged
	cfg.Unconfirmed, cfg.Heartbeat, cfg.Log = time.Second, time.Hour, slog.New(slog.NewTextHandler(&log, nil))
	b := rabbittest.OpenBus(t, cfg)
	for i := range 3 {
		if err := b.Publish(within(t), fetchOf(i)); err != nil {
			t.Fatal(err)
		}
		proxy.silence()
	}
	came, got := make(chan crawl.MessageID, 100), map[crawl.MessageID]bool{}
	consume(t, b, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error { came <- m.ID; return nil })
	for len(got) < 3 { // some come twice
		got[bustest.Await(t, came, "message")] = true
	}
	if n := strings.Count(log.String(), "not confirmed"); n < 2 {
		t.Errorf("%d messages were not confirmed, want 2: %s", n, log.String())
	}
}

// Nothing is lost when an operator closes the connections in the management console, either.
func TestNothingIsLostWhenTheBrokerClosesConnections(t *testing.T) {
	cfg := rabbittest.Config(t)
	u := parse(t, servicetest.RabbitMQAPI(t))
	password, _ := u.User.Password()
	name := u.User.Username()
	u.User = nil
	api := must(rabbithole.NewClient(u.String(), name, password))(t)
	vhost := parse(t, cfg.Subsystems).Path[1:]
	b := rabbittest.OpenBus(t, cfg)
	check(t, b.Declare(within(t)))
	until(t, "the broker lists the bus's connection",
		func() bool { return len(must(api.ListVhostConnections(vhost))(t)) > 0 })
	var closed atomic.Int64
	kick := make(chan struct{}, 1)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(kick)
	wg.Go(func() {
		for range kick {
			conns, err := api.ListVhostConnections(vhost)
			if err != nil {
				t.Error(err)
			}
			for _, c := range conns {
				if _, err := api.CloseConnection(c.Name); err == nil {
					closed.Add(1)
				}
			}
		}
	})
	pipeline(t, b, 3000, func(handled int64) {
		if handled%100 == 50 {
			select {
			case kick <- struct{}{}:
			default:
			}
		}
	})
	if closed.Load() == 0 {
		t.Error("no connection was closed: the test shows nothing")
	}
}

// A broker that is away stops nobody for good.
func TestPublishersWaitForAnUnreachableBroker(t *testing.T) {
	cfg, proxy := throughProxy(t, rabbittest.Config(t))
	b := rabbittest.OpenBus(t, cfg)
	got := make(chan crawl.MessageID, 10)
	consume(t, b, crawl.TopicFetch, 2, func(_ context.Context, m bus.Message) error { got <- m.ID; return nil })
	check(t, b.Publish(within(t), fetchOf(1)))
	bustest.Await(t, got, "delivery")
	proxy.leave(true)
	short, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := b.Publish(short, fetchOf(2)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Publish without a broker = %v, want that the deadline passed", err)
	}
	published := make(chan error)
	ctx := within(t)
	go func() { published <- b.Publish(ctx, fetchOf(3)) }()
	proxy.leave(false)
	check(t, bustest.Await(t, published, "return of Publish"))
	for bustest.Await(t, got, "delivery after the broker came back") != fetchOf(3).ID {
	}
}

// crashed publishes n messages to a consumer made by take, kills it while it holds some, and returns how many never
// reach the next consumer.
func crashed(t *testing.T, n int, take func(cfg rabbit.Config, held chan<- struct{}) (die func())) int {
	cfg := rabbittest.Config(t)
	b := rabbittest.OpenBus(t, cfg)
	publishAll2(t, b, n)
	held := make(chan struct{}, n)
	die := take(cfg, held)
	for range 5 {
		bustest.Await(t, held, "message in the hands of the one that dies")
	}
	die()
	left := map[crawl.MessageID]bool{}
	for i := range n {
		left[fetchOf(i).ID] = true
	}
	got := make(chan crawl.MessageID, 2*n)
	consume(t, b, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error { got <- m.ID; return nil })
	check(t, b.Quiet(within(t), crawl.TopicFetch))
	for len(got) > 0 {
		delete(left, <-got)
	}
	return len(left)
}

func TestNothingIsLostWhenAConsumerDies(t *testing.T) {
	lost := crashed(t, 50, func(cfg rabbit.Config, held chan<- struct{}) func() {
		b := rabbittest.OpenBus(t, cfg)
		consume(t, b, crawl.TopicFetch, 8, func(ctx context.Context, _ bus.Message) error {
			held <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
		return b.Kill
	})
	if lost != 0 {
		t.Errorf("%d messages were lost", lost)
	}
}

// A consumer that acknowledges before it handles loses messages. The control shows that the check above notices.
func TestNegativeControlAcknowledgedBeforeHandled(t *testing.T) {
	lost := crashed(t, 50, func(cfg rabbit.Config, held chan<- struct{}) func() {
		ch := raw(t, cfg.Subsystems)
		deliveries := must(ch.Consume(crawl.TopicFetch, "", true, false, false, false, nil))(t)
		go func() {
			for range deliveries {
				held <- struct{}{}
			}
		}()
		return func() { _ = ch.Close() }
	})
	if lost == 0 {
		t.Error("a consumer that acknowledges too early lost nothing: the check above proves nothing")
	}
}

// Somebody deletes the queues of a running system. What lay in them is gone, but everything goes on.
func TestDeletedQueuesAreMadeAgain(t *testing.T) {
	cfg := rabbittest.Config(t)
	b := rabbittest.OpenBus(t, cfg)
	got := make(chan crawl.MessageID, 100)
	consume(t, b, crawl.TopicFetch, 2, func(_ context.Context, m bus.Message) error { got <- m.ID; return nil })
	check(t, b.Publish(within(t), fetchOf(1)))
	bustest.Await(t, got, "delivery")
	ch := raw(t, withUserOf(t, cfg.Subsystems, servicetest.AMQP(t)))
	_ = must(ch.QueueDelete(crawl.TopicFetch, false, false, false))(t)
	check(t, b.Publish(within(t), fetchOf(2), fetchOf(3)))
	for left := map[crawl.MessageID]bool{fetchOf(2).ID: true, fetchOf(3).ID: true}; len(left) > 0; { // in any order
		delete(left, bustest.Await(t, got, "delivery after the queue was made again"))
	}
	check(t, ch.ExchangeDelete("wh_subsystems", false, false))
	check(t, b.Publish(within(t), fetchOf(4)))
	bustest.Await(t, got, "delivery after the exchange was made again")
}

// A full topic refuses messages. Its publisher waits and loses none; without a consumer only its caller ends it.
func TestAFullTopicMakesPublishersWait(t *testing.T) {
	b := rabbittest.Bus(t, func(cfg *rabbit.Config) { cfg.MaxLength = 5 })
	const n = 60
	var msgs []bus.Message
	left := map[crawl.MessageID]bool{}
	for i := range n {
		msgs = append(msgs, fetchOf(i))
		left[fetchOf(i).ID] = true
	}
	published := make(chan error)
	short, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { published <- b.Publish(short, msgs...) }()
	until(t, "the topic is full", func() bool { return depth(t, b, crawl.TopicFetch).Ready >= 5 })
	cancel()
	if err := bustest.Await(t, published, "return of Publish"); !errors.Is(err, context.Canceled) {
		t.Fatalf("Publish of %d messages into a topic of 5 = %v", n, err)
	}
	if waiting := depth(t, b, crawl.TopicFetch).Ready; waiting > 10 { // the broker counts a little late
		t.Errorf("%d messages wait in a topic of 5", waiting)
	}
	ctx := within(t)
	go func() { published <- b.Publish(ctx, msgs...) }()
	got := make(chan crawl.MessageID, 4*n)
	consume(t, b, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error { got <- m.ID; return nil })
	check(t, bustest.Await(t, published, "return of Publish"))
	for len(left) > 0 {
		delete(left, bustest.Await(t, got, "delivery"))
	}
}

// The outcome of a fetch is published after the broker has its page. Otherwise a fetcher that dies in between would
// report a finished fetch whose page is lost.
func TestMessagesForTheFrontierArePublishedLast(t *testing.T) {
	b := rabbittest.Bus(t, func(cfg *rabbit.Config) { cfg.MaxLength = 1 })
	task := fetchOf(1).Event.(*crawl.Fetch).Task
	page := bus.Message{ID: task.ID(), Event: &crawl.Page{Task: task}}
	outcome := bus.Message{ID: task.ID().Child("outcome", 0), Event: &crawl.Outcome{Task: task}}
	soon := func(msgs ...bus.Message) error {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		return b.Publish(ctx, msgs...)
	}
	check(t, b.Publish(within(t), page)) // the only one that fits; on a slow machine the next line alone shows nothing
	until(t, "the topic is full", func() bool { return errors.Is(soon(page), context.DeadlineExceeded) })
	if err := soon(page, outcome); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("published to a full topic: %v", err)
	}
	if n := depth(t, b, crawl.TopicOutcome).Ready; n != 0 {
		t.Errorf("the frontier heard the outcome of a page that was not published")
	}
	consume(t, b, crawl.TopicParse, 1, func(context.Context, bus.Message) error { return nil })
	check(t, b.Publish(within(t), page, outcome))
	if n := depth(t, b, crawl.TopicOutcome).Ready; n != 1 {
		t.Errorf("%d outcomes, want 1", n)
	}
}
