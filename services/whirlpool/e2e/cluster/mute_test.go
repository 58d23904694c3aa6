package cluster_test

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// mutePart is in the name of the connection over which a frontier leases.
const mutePart = "publishes wh_subsystems"

// mute is a proxy between frontier and broker. On demand it withholds for a while what the broker sends on the
// connection of leases, and then cuts it: the leases have arrived, their confirms have not.
type mute struct {
	listener net.Listener
	broker   string
	wg       sync.WaitGroup

	mu     sync.Mutex
	leases *mutedConn // the last connection of leases
	all    []net.Conn
}

// mutedConn is a connection of leases.
type mutedConn struct {
	client, broker net.Conn
	silent         atomic.Bool
	kept           atomic.Int64 // octets that the client did not get
}

func newMute(t *testing.T, broker string) *mute {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	m := &mute{listener: l, broker: broker}
	m.wg.Go(m.serve)
	t.Cleanup(func() {
		l.Close()
		m.mu.Lock()
		for _, c := range m.all {
			c.Close()
		}
		m.mu.Unlock()
		m.wg.Wait()
	})
	return m
}

func (m *mute) serve() {
	for {
		client, err := m.listener.Accept()
		if err != nil {
			return
		}
		broker, err := net.Dial("tcp", m.broker)
		if err != nil {
			client.Close()
			continue
		}
		c := &mutedConn{client: client, broker: broker}
		m.mu.Lock()
		m.all = append(m.all, client, broker)
		m.mu.Unlock()
		m.wg.Go(func() { m.forward(c) })
		m.wg.Go(c.answer)
	}
}

// forward passes on what the client says, and finds out which connection this is.
func (m *mute) forward(c *mutedConn) {
	defer c.cut()
	buf, said := make([]byte, 64<<10), []byte{}
	for {
		n, err := c.client.Read(buf)
		if len(said) < 4<<10 { // the name comes with the first frames
			if said = append(said, buf[:n]...); bytes.Contains(said, []byte(mutePart)) {
				m.mu.Lock()
				m.leases = c
				m.mu.Unlock()
				said = make([]byte, 4<<10)
			}
		}
		if err != nil {
			return
		}
		if _, err := c.broker.Write(buf[:n]); err != nil {
			return
		}
	}
}

// answer passes on what the broker says, unless that is to be kept.
func (c *mutedConn) answer() {
	defer c.cut()
	_, _ = io.Copy(c, c.broker)
}

func (c *mutedConn) Write(p []byte) (int, error) {
	if c.silent.Load() {
		c.kept.Add(int64(len(p)))
		return len(p), nil
	}
	return c.client.Write(p)
}

func (c *mutedConn) cut() {
	c.client.Close()
	c.broker.Close()
}

// strike loses the confirms of the next leases. It reports false where none was published in a second.
func (m *mute) strike() bool {
	m.mu.Lock()
	c := m.leases
	m.mu.Unlock()
	if c == nil {
		return false
	}
	c.silent.Store(true)
	defer c.cut()
	return within(time.Second, func() bool { return c.kept.Load() > 0 })
}

// A lease whose confirm is lost with the connection is published again, and may come to the fetcher twice. Its host
// must not hear of that.
func TestConfirmsOfLeasesAreLost(t *testing.T) {
	w := serve(t)
	c := newCluster(t, w.Srv, w.Job())
	m := newMute(t, strings.TrimPrefix(string(c.Config(c.env).RabbitMQ.URL), "amqp://"))
	c.startSeven(slices.DeleteFunc(slices.Clone(harness.Names), func(name string) bool { return name == "frontier" })...)
	c.add("frontier", filepath.Join(programs, "frontier"), nil,
		"WHIRLPOOL_RABBITMQ_URL=amqp://"+m.listener.Addr().String()).Start(t)
	c.seed()
	struck := 0
	c.tormented(w, 2*harness.Number(t, "WHIRLPOOL_E2E_KILLS", 8), func(int) {
		c.During("confirms lost", func() {
			if m.strike() {
				struck++
			}
		})
	})
	c.judge(w)
	if t.Logf("%d times confirms of leases were lost", struck); struck < 3 {
		t.Error("that is too seldom: the test proves nothing")
	}
}
