package rabbit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("rabbit: closed")

// dialTimeout bounds a connection's making, handshake included.
const dialTimeout = 10 * time.Second

// pause is the wait before the next attempt: it doubles, with jitter, so that programs do not reconnect all at once.
type pause struct{ first, most, next time.Duration }

func (p *pause) duration() time.Duration {
	d := max(p.next, p.first)
	p.next = min(2*d, p.most)
	return d/2 + rand.N(d/2+1)
}

func (p *pause) reset() { p.next = 0 }

func (p *pause) wait(ctx context.Context) error { return sleep(ctx, p.duration()) }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// session is one connection, from the handshake to its end.
type session struct {
	conn  *amqp.Connection
	batch *batchConn
	lost  chan struct{} // closed when the connection has ended
	why   *amqp.Error   // set before lost is closed; nil when we closed it
	gate  *gate         // shut while the broker takes no messages

	declaring sync.Mutex
	declared  bool
}

// link keeps one connection to a vhost, from its first use on.
type link struct {
	url, name string // name is shown in the management console
	heartbeat time.Duration
	log       *slog.Logger

	begin  sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	parked atomic.Bool // do not connect again once the connection is lost

	mu      sync.Mutex
	current *session
	err     error         // of the last attempt
	changed chan struct{} // closed, and made anew, when current or err changes
}

func newLink(cfg Config, url, name string) *link {
	ctx, cancel := context.WithCancel(context.Background())
	return &link{url: url, name: name, heartbeat: cfg.Heartbeat, ctx: ctx, cancel: cancel, ended: make(chan struct{}),
		changed: make(chan struct{}), log: cfg.Log}
}

// get returns the connection, and waits for it until ctx is done.
func (l *link) get(ctx context.Context) (*session, error) {
	l.begin.Do(func() { go l.run() })
	for {
		l.mu.Lock()
		s, err, changed := l.current, l.err, l.changed
		l.mu.Unlock()
		if s != nil && !s.conn.IsClosed() {
			return s, nil
		}
		select {
		case <-changed:
		case <-l.ctx.Done():
			return nil, ErrClosed
		case <-ctx.Done():
			if err != nil {
				return nil, fmt.Errorf("connect to RabbitMQ (%s): %w; the last attempt: %w", l.name, ctx.Err(), err)
			}
			return nil, ctx.Err()
		}
	}
}

func (l *link) set(s *session, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current, l.err = s, err
	close(l.changed)
	l.changed = make(chan struct{})
}

// run connects, and connects again, until close.
func (l *link) run() {
	defer close(l.ended)
	wait := pause{first: 100 * time.Millisecond, most: 5 * time.Second}
	down, denied := false, false
	for l.ctx.Err() == nil {
		s, err := l.dial()
		if err != nil {
			if refused := errors.Is(err, ErrRefused); l.ctx.Err() == nil && (!down || refused != denied) {
				text := "RabbitMQ cannot be reached; trying again until it can"
				if denied = refused; refused {
					text = "RabbitMQ refuses the login; trying again until it does not"
				}
				l.log.Warn(text, "connection", l.name, "error", err)
			}
			down = true
			l.set(nil, err)
			_ = wait.wait(l.ctx)
			continue
		}
		if down {
			l.log.Info("connected to RabbitMQ again", "connection", l.name)
		}
		wait.reset()
		l.set(s, nil)
		if down = l.watch(s); down {
			_ = wait.wait(l.ctx)
		}
	}
}

// watch waits for the end of a connection; true when it was lost.
func (l *link) watch(s *session) bool {
	select {
	case <-s.lost:
	case <-l.ctx.Done():
		_ = s.conn.CloseDeadline(time.Now().Add(2 * time.Second))
		<-s.lost
	}
	s.batch.cut()
	<-s.batch.ended
	if l.ctx.Err() == nil && l.parked.Load() {
		l.log.Warn("connection to RabbitMQ lost", "connection", l.name, "reason", s.why)
		<-l.ctx.Done()
	}
	if l.ctx.Err() != nil {
		l.set(nil, ErrClosed)
		return false
	}
	l.log.Warn("connection to RabbitMQ lost; connecting again", "connection", l.name, "reason", s.why)
	l.set(nil, s.why)
	return true
}

// dial makes a connection.
func (l *link) dial() (*session, error) { return l.dialWithin(l.ctx) }

func (l *link) dialWithin(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var w *batchConn
	stop := func() bool { return false }
	props := amqp.NewConnectionProperties()
	props.SetClientConnectionName(l.name)
	conn, err := amqp.DialConfig(l.url, amqp.Config{Heartbeat: l.heartbeat, Properties: props,
		Dial: func(network, addr string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			w = newBatchConn(c)
			stop = context.AfterFunc(ctx, w.cut)                 // so that close need not wait for a handshake
			return w, w.SetDeadline(time.Now().Add(dialTimeout)) // the library takes it off after the handshake
		}})
	stop()
	if err != nil {
		if w != nil {
			w.cut()
			_ = w.Close()
		}
		// of a connection that was cut the library says that it is closed
		if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, mute(l.url)
		}
		return nil, refusal(l.url, err)
	}
	s := &session{conn: conn, batch: w, lost: make(chan struct{}), gate: newGate()}
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	blocked := conn.NotifyBlocked(make(chan amqp.Blocking, 16))
	go l.follow(s, closed, blocked)
	return s, nil
}

// mute says that nothing at the broker's address answered in time.
func mute(address string) error {
	uri, err := amqp.ParseURI(address)
	if err != nil {
		return checkAMQP(address)
	}
	return fmt.Errorf("the broker at %s does not answer in time: look whether it hangs, and whether a firewall drops what "+
		"is sent there", net.JoinHostPort(uri.Host, strconv.Itoa(uri.Port)))
}

// follow reads the library's notifications of a connection until it has ended.
func (l *link) follow(s *session, closed <-chan *amqp.Error, blocked <-chan amqp.Blocking) {
	defer close(s.lost)
	for closed != nil || blocked != nil {
		select {
		case err, ok := <-closed:
			if !ok {
				closed = nil
			} else {
				s.why = err
			}
		case b, ok := <-blocked:
			if !ok {
				blocked = nil
				continue
			}
			if b.Active {
				l.log.Error("RabbitMQ takes no messages until it has room again: publishers wait", "connection", l.name,
					"reason", b.Reason)
			} else {
				l.log.Info("RabbitMQ takes messages again", "connection", l.name)
			}
			s.gate.set(b.Active)
		}
	}
	s.gate.set(false) // who waits finds the connection gone
}

// close closes the connection with a handshake and stops reconnecting.
func (l *link) close() {
	l.cancel()
	l.begin.Do(func() { close(l.ended) })
	<-l.ended
}
