// Package bus carries messages between stages.
//
// A bus promises, and the suite in bustest checks:
//
//  1. Publish returns nil only when the messages will be delivered, whatever process dies next. A bus may keep that promise
//     by storing a message, or by storing the message it came from and handling that one again (see membus).
//  2. Every message is delivered at least once; a repeat that the bus knows of is marked Redelivered.
//  3. A message is settled only after its handler returned nil, so after the handler's own outputs were published.
//  4. A handler's error brings the message back after a delay (Retry), or puts it into the dead letters with the reason.
//  5. Queues are bounded: Publish blocks while a topic is full.
//
// A bus must never look into an event, and a handler must never know which bus it runs on.
package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Message is an event with its envelope.
type Message struct {
	ID          crawl.MessageID
	Event       crawl.Event
	Redelivered bool // it may have been handled before, wholly or in part
	Attempt     int  // handlers that returned an error before this delivery
	// To is the topic that it goes to where that is not the event's own; see crawl.Stage.Routes.
	To string
}

// Topic returns the topic that the message goes to.
func (m *Message) Topic() string {
	if m.To != "" {
		return m.To
	}
	return m.Event.Topic()
}

// Arrived sets To for an event that came from a topic.
func (m *Message) Arrived(topic string) {
	if m.Event.Topic() != topic {
		m.To = topic
	}
}

// Handler handles one message. Its outputs are published with the context it was given.
type Handler func(ctx context.Context, m Message) error

// Bus joins stages.
type Bus interface {
	// Publish hands messages to the bus. The context of a handler ties them to the message being handled.
	Publish(ctx context.Context, msgs ...Message) error
	// Consume delivers the topic's messages to h, by at most w.Max at once, until ctx is done. It returns when the handlers
	// have returned; nil when ctx ended it.
	Consume(ctx context.Context, topic string, w Workers, h Handler) error
}

// Abandoner does without the return of a handler.
type Abandoner interface {
	// Abandon treats the message as if its handler had returned the error, and takes no notice of what it returns
	// later. It reports whether it was in time.
	Abandon(err error) bool
	// Life returns the context that ends the handlers' contexts. It is the same for many messages.
	Life() context.Context
}

// AbandonKey is under which the context of a handler has its Abandoner, where the bus has one.
type AbandonKey struct{}

// ErrBusy says that a broker was reached and took no message: the topic was full, or its memory or disk. Who waits longer may be served.
var ErrBusy = errors.New("the broker takes no messages for the moment")

// Workers bounds the handlers of a topic that run at once. Their number follows the queue (staged event-driven
// architecture, Welsh 2001): it grows while messages wait, and shrinks when they stop coming.
type Workers struct {
	Min, Max int
}

// Validate reports bounds that make no sense.
func (w Workers) Validate() error {
	if w.Min < 1 || w.Max < w.Min {
		return fmt.Errorf("workers %d to %d: want 1 <= min <= max", w.Min, w.Max)
	}
	return nil
}

// DeadLetter is a message that no handler could make sense of.
type DeadLetter struct {
	Message Message
	Topic   string
	Reason  string
	At      time.Time
}

// RetryError asks for the message to be delivered again after a delay.
type RetryError struct {
	After time.Duration
	Err   error
	// Expected says that this is how the system works, and no fault: the node has lost its place in the ring for the
	// moment, or another node is out of reach. Whoever found that out has said so; that messages wait for it is worth
	// one line for all of them.
	Expected bool
}

// IsExpected reports whether an error asks for a wait that is no fault.
func IsExpected(err error) bool {
	r, ok := errors.AsType[*RetryError](err)
	return ok && r.Expected
}

// Error implements error.
func (e *RetryError) Error() string { return fmt.Sprintf("retry in %v: %v", e.After, e.Err) }

// Unwrap implements errors.
func (e *RetryError) Unwrap() error { return e.Err }

// Disposition tells a bus what to do with a message whose handler returned err: deliver it again after the
// delay, or bury it. A plain error is retried, a permanent one (crawl.Permanent) is not.
func Disposition(err error, attempt int) (retry bool, after time.Duration) {
	var r *RetryError
	switch {
	case errors.As(err, &r):
		return true, r.After
	case crawl.IsPermanent(err) || attempt >= MaxAttempts:
		return false, 0
	}
	return true, Backoff(attempt)
}

// MaxAttempts is how often a plain error is retried before the message is buried. With Backoff that is about five
// minutes, long enough for a store to restart.
const MaxAttempts = 12

// Backoff is the delay before the delivery that follows attempt failures: 100 ms doubling to 30 s.
func Backoff(attempt int) time.Duration {
	return min(100*time.Millisecond<<min(attempt, 10), 30*time.Second)
}
