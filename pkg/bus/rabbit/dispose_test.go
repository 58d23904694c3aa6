package rabbit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/bustest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/rabbittest"
)

func TestARetryWaitsForItsTime(t *testing.T) {
	b := rabbittest.Bus(t)
	const wait = 700 * time.Millisecond
	at := make(chan time.Time, 2)
	consume(t, b, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error {
		at <- time.Now()
		if m.Attempt == 0 {
			return &bus.RetryError{After: wait, Err: errors.New("not yet")}
		}
		return nil
	})
	check(t, b.Publish(within(t), fetchOf(1)))
	first := bustest.Await(t, at, "delivery")
	if took := bustest.Await(t, at, "second delivery").Sub(first); took < wait-20*time.Millisecond {
		t.Errorf("came back after %v, want %v", took, wait)
	}
}

// A retry that waits must not be lost with the program that failed, nor come early to the next.
func TestARetrySurvivesACrash(t *testing.T) {
	cfg := rabbittest.Config(t)
	b := rabbittest.OpenBus(t, cfg)
	failed := make(chan struct{}, 1)
	consume(t, b, crawl.TopicFetch, 1, func(context.Context, bus.Message) error {
		failed <- struct{}{}
		return &bus.RetryError{After: time.Second, Err: errors.New("not yet")}
	})
	check(t, b.Publish(within(t), fetchOf(1)))
	bustest.Await(t, failed, "delivery")
	until(t, "the retry is stored", func() bool { return depth(t, b, crawl.TopicFetch+".retry").Unacked == 1 })
	b.Kill()
	got := make(chan bus.Message, 1)
	consume(t, rabbittest.OpenBus(t, cfg), crawl.TopicFetch, 1,
		func(_ context.Context, m bus.Message) error { got <- m; return nil })
	if m := bustest.Await(t, got, "retry"); m.ID != fetchOf(1).ID || m.Attempt != 1 || !m.Redelivered {
		t.Errorf("came back as %+v", m)
	}
}

func depth(t *testing.T, b *rabbit.Bus, queue string) bus.Depth {
	t.Helper()
	for _, d := range must(b.Depths(within(t)))(t) {
		if d.Queue == queue {
			return d
		}
	}
	return bus.Depth{}
}

func TestDeadLettersAreListedAndReplayed(t *testing.T) {
	b := rabbittest.Bus(t)
	broken := true
	got := make(chan bus.Message, 10)
	h := func(_ context.Context, m bus.Message) error {
		if broken {
			return crawl.Permanent(errors.New("cannot be handled"))
		}
		got <- m
		return nil
	}
	stop := consume(t, b, crawl.TopicFetch, 1, h)
	check(t, b.Publish(within(t), fetchOf(1), fetchOf(2), fetchOf(3)))
	until(t, "three dead letters", func() bool { return depth(t, b, "dead").Ready == 3 })
	stop()
	broken = false
	for range 2 { // listing leaves them where they are, in their order
		letters := must(b.Dead(within(t), 2))(t)
		if len(letters) != 2 || letters[0].Message.ID != fetchOf(1).ID || letters[1].Message.ID != fetchOf(2).ID {
			t.Fatalf("dead letters %+v", letters)
		}
		l := letters[0]
		if l.Topic != crawl.TopicFetch || l.Reason != "cannot be handled" || time.Since(l.At).Abs() > time.Minute ||
			l.Message.Event == nil {
			t.Errorf("letter %+v", l)
		}
		until(t, "the letters are back", func() bool { return depth(t, b, "dead").Ready == 3 })
	}
	n, err := b.Replay(within(t), func(l bus.Letter) bool { return l.Message.ID == fetchOf(2).ID })
	if n != 1 || err != nil {
		t.Fatalf("Replay = %d, %v", n, err)
	}
	consume(t, b, crawl.TopicFetch, 1, h)
	if m := bustest.Await(t, got, "replayed message"); m.ID != fetchOf(2).ID || m.Attempt != 0 || !m.Redelivered {
		t.Errorf("replayed as %+v", m)
	}
	until(t, "two letters are left", func() bool { return depth(t, b, "dead").Ready == 2 })
}

func TestInvalidEventsAreBuriedUnchanged(t *testing.T) {
	for name, msg := range map[string]amqp.Publishing{
		"no CBOR":         {MessageId: fetchOf(1).ID.String(), ContentType: "application/cbor", Body: []byte{1, 0xff, 0, 3}},
		"nothing":         {MessageId: fetchOf(1).ID.String(), ContentType: "application/cbor"},
		"another version": {MessageId: fetchOf(1).ID.String(), ContentType: "application/cbor", Body: []byte{99, 0xa0}},
		"no id":           {ContentType: "application/cbor", Body: []byte{1, 0xa0}},
		"another format":  {MessageId: fetchOf(1).ID.String(), ContentType: "text/plain", Body: []byte("hello")},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := rabbittest.Config(t)
			b := rabbittest.OpenBus(t, cfg)
			msg.Headers = amqp.Table{"x-attempt": "many", "x-due": int64(-1), "foreign": true}
			check(t, raw(t, cfg.Subsystems).PublishWithContext(within(t), "wh_subsystems", crawl.TopicFetch, true, false, msg))
			consume(t, b, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error {
				t.Errorf("handled %+v", m)
				return nil
			})
			until(t, "a dead letter", func() bool { return depth(t, b, "dead").Ready == 1 })
			l := must(b.Dead(within(t), 9))(t)[0]
			if string(l.Body) != string(msg.Body) || l.Topic != crawl.TopicFetch || l.Reason == "" {
				t.Errorf("buried as %+v", l)
			}
		})
	}
}

// A message that crashes its handler is buried in the end, not redelivered for ever.
func TestAMessageThatCrashesHandlersIsBuried(t *testing.T) {
	cfg := rabbittest.Config(t)
	body := must(crawl.EncodeEvent(fetchOf(1).Event))(t)
	check(t, raw(t, cfg.Subsystems).PublishWithContext(within(t), "wh_subsystems", crawl.TopicFetch, true, false,
		amqp.Publishing{
			MessageId: fetchOf(1).ID.String(), ContentType: "application/cbor", Body: body,
			Headers: amqp.Table{"x-redeliveries": int64(18)}}))
	for range 2 { // deaths 19 and 20
		b := rabbittest.OpenBus(t, cfg)
		took := make(chan bus.Message, 1)
		consume(t, b, crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
			took <- m
			<-ctx.Done()
			return ctx.Err()
		})
		if m := bustest.Await(t, took, "delivery"); !m.Redelivered {
			t.Error("a message that was delivered before is not marked")
		}
		b.Kill()
	}
	b := rabbittest.OpenBus(t, cfg)
	// An acknowledgement may have died with a program, so that an older copy comes once more.
	consume(t, b, crawl.TopicFetch, 1, func(context.Context, bus.Message) error { return nil })
	until(t, "a dead letter", func() bool { return depth(t, b, "dead").Ready == 1 })
	if l := must(b.Dead(within(t), 9))(t)[0]; !strings.Contains(l.Reason, "20 times") || l.Message.Event == nil {
		t.Errorf("buried as %+v", l)
	}
}
