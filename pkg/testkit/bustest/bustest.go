// Package bustest is the conformance suite of bus.Bus. Every bus must pass it.
package bustest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Instance is a bus under test.
type Instance struct {
	Bus bus.Bus
	// Dead returns the dead letters so far.
	Dead func() []bus.DeadLetter
	// Restart ends the bus as kill -9 would, and returns its successor over the same storage. The successor's Recover,
	// if any, has been called.
	Restart func(t *testing.T) Instance
}

// Run runs the suite. open makes a fresh, empty instance.
func Run(t *testing.T, open func(t *testing.T) Instance) {
	tests := []struct {
		name string
		run  func(t *testing.T, in Instance)
	}{
		{"every message is delivered", delivered},
		{"an event arrives as it was sent", intact},
		{"outputs reach the next topic", outputs},
		{"workers grow to the bound and no further", workers},
		{"the bound of workers changes while they run", rebound},
		{"a failed message comes back after a delay", retried},
		{"a hopeless message is buried with its reason", buried},
		{"a handler that does not return is abandoned", abandoned},
		{"a full topic blocks its publisher", backpressure},
		{"a message in hand at a crash comes back marked", crash},
		{"what a crash left half done is done again", crashMidTree},
		{"a settled message does not come back", settled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

const patience = 2 * time.Minute

func lease(n int) bus.Message {
	u, err := weburl.Parse("http://example.test/" + string(rune('a'+n%26)) + "?n=" + time.Duration(n).String())
	if err != nil {
		panic(err)
	}
	task := crawl.Task{Job: "bustest", URL: u, Depth: n}
	return bus.Message{ID: task.ID(), Event: &crawl.Fetch{Task: task}}
}

// consume runs a consumer until the test ends.
func consume(t *testing.T, b bus.Bus, topic string, workers int, h bus.Handler) {
	consumeBy(t, b, topic, bus.Workers{Min: 1, Max: workers}, h)
}

func consumeBy(t *testing.T, b bus.Bus, topic string, w bus.Workers, h bus.Handler) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := b.Consume(ctx, topic, w, h); err != nil {
			t.Errorf("Consume(%s) = %v", topic, err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// Await fails the test unless c yields a value in time.
func Await[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s within %v", what, patience)
		panic("unreachable")
	}
}

func publish(t *testing.T, b bus.Bus, msgs ...bus.Message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.Publish(ctx, msgs...); err != nil {
		t.Fatalf("Publish = %v", err)
	}
}

func delivered(t *testing.T, in Instance) {
	const n = 500
	got := make(chan crawl.MessageID, 2*n)
	consume(t, in.Bus, crawl.TopicFetch, 8, func(_ context.Context, m bus.Message) error { got <- m.ID; return nil })
	want := map[crawl.MessageID]bool{}
	for i := range n {
		m := lease(i)
		want[m.ID] = true
		publish(t, in.Bus, m)
	}
	for len(want) > 0 {
		delete(want, Await(t, got, "delivery"))
	}
}

func intact(t *testing.T, in Instance) {
	got := make(chan bus.Message, 1)
	consume(t, in.Bus, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error { got <- m; return nil })
	sent := lease(7)
	publish(t, in.Bus, sent)
	m := Await(t, got, "delivery")
	if e := m.Event.(*crawl.Fetch); e.Task != sent.Event.(*crawl.Fetch).Task || m.ID != sent.ID {
		t.Errorf("got %v %+v, sent %v %+v", m.ID, e, sent.ID, sent.Event)
	}
	if m.Redelivered || m.Attempt != 0 {
		t.Errorf("first delivery says redelivered=%v attempt=%d", m.Redelivered, m.Attempt)
	}
}

// abandoned blocks the only worker with a hanging handler. The message is buried with the error of its abandonment, the
// handler's late return is ignored, and the next message gets a worker.
func abandoned(t *testing.T, in Instance) {
	stuck, next := lease(1), lease(2)
	hangs, open, got := make(chan bus.Abandoner, 1), make(chan struct{}), make(chan crawl.MessageID, 1)
	consume(t, in.Bus, crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
		if m.ID != stuck.ID {
			got <- m.ID
			return nil
		}
		a, ok := ctx.Value(bus.AbandonKey{}).(bus.Abandoner)
		if !ok || a.Life().Err() != nil {
			t.Errorf("the context of a handler says %v for bus.AbandonKey", a)
		}
		hangs <- a
		<-open
		return errors.New("too late")
	})
	publish(t, in.Bus, stuck)
	a := Await(t, hangs, "call")
	if !a.Abandon(crawl.Permanent(errors.New("it hangs"))) {
		t.Error("a handler that did not return could not be abandoned")
	}
	publish(t, in.Bus, next)
	if id := Await(t, got, "delivery of the next message"); id != next.ID {
		t.Errorf("got %v, want %v", id, next.ID)
	}
	close(open)
	for deadline := time.Now().Add(patience); len(in.Dead()) == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if d := in.Dead(); len(d) != 1 || d[0].Message.ID != stuck.ID || d[0].Reason != "it hangs" {
		t.Errorf("dead letters %+v", d)
	}
	if a.Abandon(errors.New("again")) {
		t.Error("abandoned twice")
	}
}

func outcomeOf(m bus.Message) bus.Message {
	e := m.Event.(*crawl.Fetch)
	return bus.Message{ID: m.ID.Child("test", 0), Event: &crawl.Outcome{Task: e.Task, Verdict: crawl.VerdictDone}}
}

func outputs(t *testing.T, in Instance) {
	got := make(chan crawl.MessageID, 1)
	consume(t, in.Bus, crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
		return in.Bus.Publish(ctx, outcomeOf(m))
	})
	consume(t, in.Bus, crawl.TopicOutcome, 1, func(_ context.Context, m bus.Message) error { got <- m.ID; return nil })
	m := lease(1)
	publish(t, in.Bus, m)
	if id := Await(t, got, "output"); id != m.ID.Child("test", 0) {
		t.Errorf("output has id %v", id)
	}
}

func workers(t *testing.T, in Instance) {
	const limit = 6
	var running, most atomic.Int64
	full, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	consume(t, in.Bus, crawl.TopicFetch, limit, func(context.Context, bus.Message) error {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n == limit {
			once.Do(func() { close(full) })
		}
		<-release
		return nil
	})
	for i := range 3 * limit {
		publish(t, in.Bus, lease(i))
	}
	Await(t, full, "full set of workers")
	close(release)
	if most.Load() > limit {
		t.Errorf("%d handlers ran at once, want at most %d", most.Load(), limit)
	}
}

func retried(t *testing.T, in Instance) {
	got := make(chan bus.Message, 4)
	consume(t, in.Bus, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error {
		got <- m
		if m.Attempt < 2 {
			return &bus.RetryError{After: time.Millisecond, Err: errors.New("not yet")}
		}
		return nil
	})
	publish(t, in.Bus, lease(1))
	for want := range 3 {
		if m := Await(t, got, "delivery"); m.Attempt != want {
			t.Fatalf("delivery has attempt %d, want %d", m.Attempt, want)
		}
	}
}

func buried(t *testing.T, in Instance) {
	later := make(chan struct{}, 1)
	poison := lease(1)
	consume(t, in.Bus, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error {
		if m.ID == poison.ID {
			return crawl.Permanent(errors.New("this page is poison"))
		}
		later <- struct{}{}
		return nil
	})
	publish(t, in.Bus, poison, lease(2))
	Await(t, later, "delivery of the message after the poison")
	deadline := time.Now().Add(patience)
	for len(in.Dead()) == 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond) // a broker's queue offers nothing to wait on
	}
	dead := in.Dead()
	if len(dead) != 1 || dead[0].Message.ID != poison.ID || dead[0].Reason != "this page is poison" {
		t.Fatalf("dead letters = %+v", dead)
	}
	if e, ok := dead[0].Message.Event.(*crawl.Fetch); !ok || e.Task != poison.Event.(*crawl.Fetch).Task {
		t.Errorf("the dead letter carries %+v", dead[0].Message.Event)
	}
}

func backpressure(t *testing.T, in Instance) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	for i := range 1 << 20 {
		if err := in.Bus.Publish(ctx, lease(i)); err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("Publish into a full topic = %v", err)
			}
			return
		}
	}
	t.Fatal("a million messages went into a topic without a consumer")
}

func crash(t *testing.T, in Instance) {
	took := make(chan struct{})
	stuck := make(chan struct{})
	consume(t, in.Bus, crawl.TopicFetch, 1,
		func(context.Context, bus.Message) error { close(took); <-stuck; return errStopped })
	m := lease(1)
	publish(t, in.Bus, m)
	Await(t, took, "delivery")
	next := in.Restart(t)
	got := make(chan bus.Message, 1)
	consume(t, next.Bus, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error { got <- m; return nil })
	again := Await(t, got, "delivery after the crash")
	if again.ID != m.ID || !again.Redelivered {
		t.Errorf("after the crash came %v redelivered=%v, want %v redelivered", again.ID, again.Redelivered, m.ID)
	}
	close(stuck)
}

var errStopped = errors.New("stopped")

func crashMidTree(t *testing.T, in Instance) {
	took := make(chan struct{})
	stuck := make(chan struct{})
	consume(t, in.Bus, crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
		return in.Bus.Publish(ctx, outcomeOf(m))
	})
	consume(t, in.Bus, crawl.TopicOutcome, 1,
		func(context.Context, bus.Message) error { close(took); <-stuck; return errStopped })
	m := lease(1)
	publish(t, in.Bus, m)
	Await(t, took, "output")
	next := in.Restart(t)
	got := make(chan crawl.MessageID, 2)
	consume(t, next.Bus, crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
		return next.Bus.Publish(ctx, outcomeOf(m))
	})
	consume(t, next.Bus, crawl.TopicOutcome, 1, func(_ context.Context, m bus.Message) error { got <- m.ID; return nil })
	if id := Await(t, got, "output after the crash"); id != m.ID.Child("test", 0) {
		t.Errorf("after the crash came output %v", id)
	}
	close(stuck)
}

func settled(t *testing.T, in Instance) {
	done := make(chan struct{}, 2)
	consume(t, in.Bus, crawl.TopicOutcome, 1, func(context.Context, bus.Message) error { done <- struct{}{}; return nil })
	consume(t, in.Bus, crawl.TopicFetch, 1, func(ctx context.Context, m bus.Message) error {
		return in.Bus.Publish(ctx, outcomeOf(m))
	})
	// A broker gives out a few messages ahead, and further ones only when it has heard that the first are settled.
	const ahead = 8
	for i := range ahead {
		publish(t, in.Bus, lease(1+i))
		Await(t, done, "output")
	}
	next := in.Restart(t)
	got := make(chan bus.Message, 4)
	consume(t, next.Bus, crawl.TopicFetch, 1, func(_ context.Context, m bus.Message) error { got <- m; return nil })
	fresh := lease(1 + ahead)
	publish(t, next.Bus, fresh)
	for {
		m := Await(t, got, "delivery")
		if m.ID == fresh.ID {
			return
		}
		if m.ID == lease(1).ID {
			t.Fatal("a settled message came back")
		}
	}
}
