// Package bus carries messages between stages.
//
// A bus makes these promises, and the suite in bustest checks them:
//
//  1. Publish returns nil only if the messages will be delivered, whichever process dies next. A bus keeps this promise
//     by storing the message, or by storing the message it came from and handling that one again (see membus).
//  2. Every message is delivered at least once. A repeat that the bus knows of is marked Redelivered.
//  3. A message is settled only after its handler returned nil, so after the outputs of the handler were published.
//  4. If a handler returns an error, the message comes back after a delay (RetryError, AwayError), or goes to the dead
//     letters with the reason.
//  5. Queues are bounded: Publish blocks while a topic is full.
//
// A bus never looks into an event, and a handler never knows which bus it runs on.
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
	// Consume delivers the topic's messages to h, at most w.Max at once, until ctx is done. It returns after the
	// handlers have returned; nil if ctx ended it.
	Consume(ctx context.Context, topic string, w Workers, h Handler) error
}

// Abandoner does without the return of a handler.
type Abandoner interface {
	// Abandon treats the message as if its handler had returned err, and ignores what the handler returns later. It
	// returns false if the handler has returned already.
	Abandon(err error) bool
	// Life returns the context that ends the handlers' contexts. It is the same for many messages.
	Life() context.Context
}

// AbandonKey is under which the context of a handler has its Abandoner, where the bus has one.
type AbandonKey struct{}

// ErrBusy says that a broker was reached and took no message: the topic was full, or its memory or disk. Whoever waits
// longer may be served.
var ErrBusy = errors.New("the broker takes no messages for the moment")

// Workers bounds how many handlers of a topic run at once. Their number follows the queue (staged event-driven
// architecture, Welsh 2001): it grows while messages wait and shrinks when none come.
type Workers struct {
	Min, Max int
	// Bound replaces Max while handlers run; nil: Max holds. At 0 nothing is begun, and what waits stays where it is.
	Bound *Bound
}

// Most is how many handlers may run at once now.
func (w Workers) Most() int {
	if w.Bound == nil {
		return w.Max
	}
	return w.Bound.Get()
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
	// Expected marks an error that is part of normal operation: the node has lost its place in the ring for the moment,
	// or another node cannot be reached. The cause was logged where it was found. The waiting messages together get one
	// log line.
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

// AwayError says that a service is out of reach, or takes nothing from anybody at the moment: the message is not at
// fault, and is delivered again until the service is back.
type AwayError struct{ Err error }

// Error implements error.
func (e *AwayError) Error() string { return e.Err.Error() }

// Unwrap implements errors.
func (e *AwayError) Unwrap() error { return e.Err }

// IsAway reports whether an error is that of a service which is out of reach.
func IsAway(err error) bool {
	_, ok := errors.AsType[*AwayError](err)
	return ok
}

// Disposition tells a bus what to do with a message whose handler returned err: deliver it again after the delay, or
// bury it. A permanent error (crawl.Permanent) is not retried.
func Disposition(err error, attempt int) (retry bool, after time.Duration) {
	var r *RetryError
	switch {
	case errors.As(err, &r):
		return true, r.After
	case crawl.IsPermanent(err):
		return false, 0
	case IsAway(err):
		return true, Backoff(min(attempt, awayAttempts))
	case attempt >= MaxAttempts:
		return false, 0
	}
	return true, Backoff(attempt)
}

// Failed is how many attempts a message has failed of that had failed of so many, and fails now with err. A service
// that is away uses up half of MaxAttempts at most: when it is back, the message has attempts left for faults of its
// own.
func Failed(err error, attempt int) int {
	if IsAway(err) {
		return max(attempt, min(attempt+1, awayAttempts))
	}
	return attempt + 1
}

// MaxAttempts is how often a plain error is retried before the message is buried. With Backoff this takes two to three
// minutes.
const MaxAttempts = 12

// awayAttempts is how many attempts a service that is away uses up at most. The delay after so many is 6 s.
const awayAttempts = MaxAttempts / 2

// Backoff is the delay before the delivery that follows attempt failures: 100 ms doubling to 30 s.
func Backoff(attempt int) time.Duration {
	return min(100*time.Millisecond<<min(attempt, 10), 30*time.Second)
}
