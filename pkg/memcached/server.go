package memcached

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// server is one memcached with its idle connections.
type server struct {
	addr    string
	timeout time.Duration
	breaker breaker

	mu     sync.Mutex
	idle   []*conn // the latest used last
	max    int
	closed bool
}

type conn struct {
	net.Conn
	in  *bufio.Reader
	out []byte
}

// errResting is returned without asking while a server is left alone.
var errResting = errors.New("memcached is left alone for a while")

// do makes one exchange: write appends the request, read reads the answer.
func (s *server) do(ctx context.Context, write func(b []byte) []byte, read func(r *bufio.Reader) error) error {
	ok, probe := s.breaker.allow()
	if !ok {
		return errResting
	}
	err := s.exchange(ctx, write, read)
	if err != nil && ended(ctx) { // it was cut short by its caller
		s.breaker.abandon(probe)
		return context.DeadlineExceeded
	}
	s.breaker.done(probe, err)
	return err
}

// ended reports whether ctx is done, or will be as soon as its timer runs.
func ended(ctx context.Context) bool {
	d, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(d)
}

func (s *server) exchange(ctx context.Context, write func(b []byte) []byte, read func(r *bufio.Reader) error) error {
	deadline := time.Now().Add(s.timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	c, err := s.get(ctx, deadline)
	if err != nil {
		return err
	}
	c.out = write(c.out[:0])
	if err = c.SetDeadline(deadline); err == nil {
		_, err = c.Write(c.out)
	}
	if err == nil {
		err = read(c.in)
	}
	if err != nil || c.in.Buffered() > 0 {
		// What is left to read belongs to nobody. The other connections have most likely ended with this one.
		_ = c.Close()
		s.closeIdle()
		if err == nil {
			err = fmt.Errorf("%w: it said more than it was asked", errProtocol)
		}
		return err
	}
	s.put(c)
	return nil
}

// readBuffer holds the answers to a batch of claimed URLs, and most robots.txt files.
const readBuffer = 16 << 10

// maxOut is the largest request buffer that a connection keeps.
const maxOut = 64 << 10

func (s *server) get(ctx context.Context, deadline time.Time) (*conn, error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	d := net.Dialer{Deadline: deadline}
	c, err := d.DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, in: bufio.NewReaderSize(c, readBuffer)}, nil
}

func (s *server) put(c *conn) {
	if cap(c.out) > maxOut {
		c.out = nil
	}
	s.mu.Lock()
	keep := !s.closed && len(s.idle) < s.max
	if keep {
		s.idle = append(s.idle, c)
	}
	s.mu.Unlock()
	if !keep {
		_ = c.Close()
	}
}

func (s *server) closeIdle() {
	s.mu.Lock()
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, c := range idle {
		_ = c.Close()
	}
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.closeIdle()
}
