package memcached

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

// server is one memcached with a client of its own. The list of servers in the library looks names up once; this type
// looks the name up for each new connection.
type server struct {
	addr    string
	client  *memcache.Client
	breaker breaker
}

var (
	_ memcache.ServerSelector = (*server)(nil)
	_ net.Addr                = (*server)(nil)
)

func newServer(addr string, cfg *Config) *server {
	s := &server{addr: addr, breaker: breaker{server: addr, log: cfg.Log, now: time.Now}}
	s.client = memcache.NewFromSelector(s)
	s.client.Timeout, s.client.MaxIdleConns, s.client.DialContext = cfg.Timeout, cfg.MaxIdle, dialer(cfg.Timeout)
	return s
}

// PickServer implements memcache.ServerSelector.
func (s *server) PickServer(string) (net.Addr, error) { return s, nil }

// Each implements memcache.ServerSelector.
func (s *server) Each(do func(net.Addr) error) error { return do(s) }

// Network implements net.Addr.
func (s *server) Network() string { return "tcp" }

// String implements net.Addr.
func (s *server) String() string { return s.addr }

// errResting is returned without asking while a server is left alone.
var errResting = errors.New("memcached is left alone for a while")

// do makes a call, unless the server is left alone.
func (s *server) do(call func(*memcache.Client) error) error {
	a, ok := s.breaker.allow()
	if !ok {
		return errResting
	}
	err := call(s.client)
	if errors.Is(err, memcache.ErrNotStored) { // an add that came second
		err = nil
	}
	if err != nil {
		_ = s.client.Close() // the idle connections, which have most likely ended with this one; the client stays of use
	}
	s.breaker.done(a, err)
	return err
}

// conn gives a whole call one deadline. The library sets a new one for every line, so that a server that sends slowly
// could block a caller for ever.
type conn struct {
	net.Conn
	timeout time.Duration
	asked   bool // a request was begun, and nothing of its answer was read
}

// dialer returns a DialContext whose connections give the first call what is left of the time to connect.
func dialer(timeout time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		deadline := time.Now().Add(timeout)
		d := net.Dialer{Deadline: deadline}
		c, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: c, timeout: timeout, asked: true}, c.SetDeadline(deadline)
	}
}

// SetDeadline implements net.Conn: Write sets it.
func (c *conn) SetDeadline(time.Time) error { return nil }

// Write implements io.Writer. The first of a request sets the deadline of the call.
func (c *conn) Write(b []byte) (int, error) {
	if !c.asked {
		c.asked = true
		if err := c.Conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(b)
}

// Read implements io.Reader.
func (c *conn) Read(b []byte) (int, error) {
	c.asked = false
	return c.Conn.Read(b)
}
