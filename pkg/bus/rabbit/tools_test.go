package rabbit_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// withUserOf returns the address with the user of another one.
func withUserOf(t testing.TB, address, other string) string {
	t.Helper()
	a, o := parse(t, address), parse(t, other)
	a.User = o.User
	return a.String()
}

func parse(t testing.TB, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// proxy forwards connections to the broker and can be switched off.
type proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	away  bool
	conns map[net.Conn]bool
	wg    sync.WaitGroup

	accepted, mute atomic.Int64 // connections so far; how many of them get nothing any more
}

// silence keeps from all that are connected what the broker says from now on. The connections stay.
func (p *proxy) silence() { p.mute.Store(p.accepted.Load()) }

// listening is a client's end of a connection that may be silenced.
type listening struct {
	net.Conn
	p *proxy
	n int64
}

func (l listening) Write(b []byte) (int, error) {
	if l.n <= l.p.mute.Load() {
		return len(b), nil
	}
	return l.Conn.Write(b)
}

// throughProxy lets a configuration reach the broker through a proxy.
func throughProxy(t testing.TB, cfg rabbit.Config) (rabbit.Config, *proxy) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: parse(t, servicetest.AMQP(t)).Host, conns: map[net.Conn]bool{}}
	p.wg.Go(p.serve)
	t.Cleanup(func() {
		l.Close()
		p.cut()
		p.wg.Wait()
	})
	for _, address := range []*string{&cfg.Subsystems, &cfg.Frontier} {
		u := parse(t, *address)
		u.Host = l.Addr().String()
		*address = u.String()
	}
	return cfg, p
}

func (p *proxy) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", p.target)
		if err != nil || !p.add(c, up) {
			c.Close()
			if err == nil {
				up.Close()
			}
			continue
		}
		for from, to := range map[net.Conn]io.Writer{c: up, up: listening{c, p, p.accepted.Add(1)}} {
			p.wg.Go(func() {
				_, _ = io.Copy(to, from)
				c.Close()
				up.Close()
			})
		}
	}
}

func (p *proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
	}
	return !p.away
}

// cut ends all connections at once.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
	clear(p.conns)
}

// leave cuts all connections and refuses new ones until back is called.
func (p *proxy) leave(away bool) {
	p.mu.Lock()
	p.away = away
	p.mu.Unlock()
	if away {
		p.cut()
	}
}

func fetchOf(n int) bus.Message {
	task := page(n).Event.(*crawl.Page).Task
	return bus.Message{ID: task.ID(), Event: &crawl.Fetch{Task: task}}
}

// consume consumes until the test ends, or stop is called.
func consume(t testing.TB, b *rabbit.Bus, topic string, workers int, h bus.Handler) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := b.Consume(ctx, topic, bus.Workers{Min: 1, Max: workers}, h); err != nil {
			t.Errorf("Consume(%s) = %v", topic, err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// until polls a condition that has no event to wait for.
func until(t testing.TB, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// raw is a channel of its own to a vhost.
func raw(t testing.TB, address string) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
