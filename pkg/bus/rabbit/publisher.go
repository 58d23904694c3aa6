package rabbit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// outgoing is a message on its way to a queue of the vhost.
type outgoing struct {
	queue string
	msg   amqp.Publishing
}

// Why a message is to be published again.
var (
	errFull       = errors.New("the queue is full")
	errUnroutable = errors.New("the queue does not exist")
	errLostUnsure = errors.New("the connection was lost before the broker confirmed")
	errBlocked    = errors.New("the broker is short of memory or disk")
)

// publisher publishes to one vhost. Its callers share a channel. Their messages are sent together and confirmed
// together, so many small groups cost few round trips.
type publisher struct {
	link     *link
	exchange string
	window   int
	patience time.Duration // for a confirm
	// prepare makes sure that the exchange and the queues exist: all fixed ones, and those named.
	prepare func(ctx context.Context, s *session, missing []string) error

	turn    chan struct{} // holds a value while somebody writes
	current *confirming   // who has the turn may touch it

	mu   sync.Mutex
	said string // the last trouble in the log
}

func newPublisher(l *link, exchange string, cfg *Config) *publisher {
	return &publisher{link: l, exchange: exchange, window: cfg.Window, patience: cfg.Unconfirmed,
		turn: make(chan struct{}, 1)}
}

// confirming is a channel on which the broker confirms.
type confirming struct {
	session *session
	ch      *amqp.Channel
	slots   chan struct{}    // a value for each message that was published and not collected: at most the window
	returns chan amqp.Return // what was unroutable; as large as the window, so that the library's reader never waits
	next    uint64           // correlation id of the next message

	mu       sync.Mutex
	returned map[string]bool // correlation ids of messages that came back
}

// publish returns when the broker has confirmed every message. Until ctx is done it publishes again what was refused,
// returned, or lost with a connection. It returns bus.ErrBusy if the broker refused a message meanwhile.
func (p *publisher) publish(ctx context.Context, out []outgoing) error {
	wait := pause{first: 2 * time.Millisecond, most: 500 * time.Millisecond}
	var why, busy error
	for len(out) > 0 {
		n := min(len(out), max(p.window/2, 1))
		again, s, err := p.try(ctx, out[:n])
		if len(again) == 0 {
			out = out[n:]
			wait.reset()
			p.say(nil)
			continue
		}
		if errors.Is(err, errUnroutable) {
			err = errors.Join(err, p.prepare(ctx, s, queuesOf(again)))
		}
		out, why = append(again, out[n:]...), err
		if errors.Is(err, errFull) || errors.Is(err, errBlocked) {
			busy = bus.ErrBusy
		}
		if errors.Is(err, ErrClosed) || errors.Is(err, ErrLost) { // a queue that is missing is not made again either
			return fmt.Errorf("publish %d messages, the first to queue %s: %w", len(out), out[0].queue, err)
		}
		p.say(err)
		if err := wait.wait(ctx); err != nil {
			return errors.Join(fmt.Errorf("publish %d messages, the first to queue %s: %w (%w)", len(out), out[0].queue, err,
				why), busy)
		}
	}
	return nil
}

// say logs once why messages cannot be published. A full queue is normal, and a lost connection is logged by its link.
func (p *publisher) say(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.said = ""
	case errors.Is(err, errFull), errors.Is(err, errLostUnsure), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded), err.Error() == p.said:
	default:
		p.said = err.Error()
		p.link.log.Error("messages cannot be published; trying again", "error", err)
	}
}

func queuesOf(out []outgoing) []string {
	names := make([]string, len(out))
	for i := range out {
		names[i] = out[i].queue
	}
	return names
}

// try publishes messages once, and returns those that are not known to have arrived, with the reason.
func (p *publisher) try(ctx context.Context, out []outgoing) (again []outgoing, s *session, why error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return out, nil, ctx.Err()
	}
	c, err := p.channel(ctx)
	if err != nil {
		<-p.turn
		return out, nil, err
	}
	sent, err := c.send(ctx, p.exchange, out)
	<-p.turn
	again, why = p.collect(ctx, c, out[:len(sent)], sent)
	if err != nil {
		why = err
	}
	return append(again, out[len(sent):]...), c.session, why
}

// channel returns the channel to publish on, and opens it where there is none.
func (p *publisher) channel(ctx context.Context) (*confirming, error) {
	s, err := p.link.get(ctx)
	if err != nil {
		return nil, err
	}
	if c := p.current; c != nil && c.session == s && !c.ch.IsClosed() {
		return c, nil
	}
	// the broker closed the channel, not the connection: is the exchange there?
	if p.current != nil && p.current.session == s {
		s.undeclare()
	}
	p.current = nil
	if err := p.prepare(ctx, s, nil); err != nil {
		return nil, err
	}
	ch, err := s.conn.Channel()
	if err != nil {
		return nil, fmt.Errorf("open a channel to publish: %w", err)
	}
	c := &confirming{session: s, ch: ch, slots: make(chan struct{}, p.window), returned: map[string]bool{},
		returns: ch.NotifyReturn(make(chan amqp.Return, p.window))}
	if err := ch.Confirm(false); err != nil {
		return nil, fmt.Errorf("ask for confirms: %w", err)
	}
	p.current = c
	return c, nil
}

// sent is a message that was written.
type sent struct {
	id      string
	confirm *amqp.DeferredConfirmation
}

// send writes messages. It blocks while the broker blocks publishers and while the window is full. If it stops early,
// it returns the reason.
func (c *confirming) send(ctx context.Context, exchange string, out []outgoing) ([]sent, error) {
	done := make([]sent, 0, len(out))
	for i := range out {
		if err := c.admit(ctx); err != nil {
			return done, err
		}
		c.next++
		out[i].msg.CorrelationId = strconv.FormatUint(c.next, 36)
		confirm, err := c.ch.PublishWithDeferredConfirm(exchange, out[i].queue, true, false, out[i].msg)
		if err != nil {
			<-c.slots
			return done, fmt.Errorf("%w: %w", errLostUnsure, err)
		}
		done = append(done, sent{out[i].msg.CorrelationId, confirm})
	}
	return done, nil
}

// admit waits until one more message may be written.
func (c *confirming) admit(ctx context.Context) error {
	if err := c.session.gate.wait(ctx); err != nil {
		return fmt.Errorf("%w: %w", errBlocked, err)
	}
	if err := c.session.batch.room(ctx); err != nil {
		return err
	}
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// collect waits for the confirms of the written messages and returns the messages that got none. If ctx ends first,
// their slots are freed when the confirms arrive.
func (p *publisher) collect(ctx context.Context, c *confirming, out []outgoing, done []sent) ([]outgoing, error) {
	var again []outgoing
	var why error
	late := time.NewTimer(p.patience)
	defer late.Stop()
	for i, s := range done {
		if !p.await(ctx, c, s, late) {
			go func() {
				for _, s := range done[i:] {
					<-s.confirm.Done()
					c.free(s)
				}
			}()
			return append(again, out[i:]...), ctx.Err()
		}
		switch returned := c.free(s); {
		case returned:
			again, why = append(again, out[i]), errUnroutable
		case !s.confirm.Acked() && c.ch.IsClosed():
			again, why = append(again, unsure(out[i])), errLostUnsure
		case !s.confirm.Acked():
			again, why = append(again, out[i]), errFull
		}
	}
	return again, why
}

// await waits for a confirm; false if ctx ended first. Where it does not come for too long, though those before it have
// come, await cuts the connection, with which all that wait for a confirm on it come to their end. While the broker
// takes no messages it confirms none either.
func (p *publisher) await(ctx context.Context, c *confirming, s sent, late *time.Timer) bool {
	select {
	case <-s.confirm.Done():
		return true
	default:
	}
	for late.Reset(p.patience); ; late.Reset(p.patience) {
		select {
		case <-s.confirm.Done():
			return true
		case <-ctx.Done():
			return false
		case <-late.C:
			if !c.session.gate.isShut() {
				p.link.log.Warn("a message is not confirmed: publishing it again over another connection",
					"connection", p.link.name, "waited", p.patience)
				c.session.batch.cut()
			}
		}
	}
}

// unsure marks a message that may have arrived already, so that a second copy can be recognised.
func unsure(o outgoing) outgoing {
	if number(o.msg.Headers, headerRedeliveries) == 0 {
		o.msg.Headers = withNumber(o.msg.Headers, headerRedeliveries, 1)
	}
	return o
}

// free passes the slot of a confirmed message to the next one and reports whether the message was returned as
// unroutable. The broker returns a message before it confirms it, so the return has been read by now, in this call or
// another.
func (c *confirming) free(s sent) (returned bool) {
	c.mu.Lock()
	for more := true; more; {
		select {
		case r, ok := <-c.returns:
			if more = ok; ok {
				c.returned[r.CorrelationId] = true
			}
		default:
			more = false
		}
	}
	returned = c.returned[s.id]
	delete(c.returned, s.id)
	c.mu.Unlock()
	<-c.slots
	return returned
}
