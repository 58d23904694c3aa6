package memcached

import (
	"context"
	"crypto/rand"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a client of the real server under a prefix of its own. Tests are no judges of speed, so it may take its
// time.
func open(t testing.TB, set ...func(*Config)) *Client {
	t.Helper()
	cfg := Default()
	cfg.Addrs, cfg.Prefix, cfg.Timeout = []string{servicetest.Memcached(t)}, "test-"+rand.Text(), 5*time.Second
	return openWith(t, cfg, set...)
}

// openAt returns a client of other servers.
func openAt(t testing.TB, addrs ...string) *Client {
	t.Helper()
	cfg := Default()
	cfg.Addrs = addrs
	return openWith(t, cfg)
}

func openWith(t testing.TB, cfg Config, set ...func(*Config)) *Client {
	t.Helper()
	for _, f := range set {
		f(&cfg)
	}
	c, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// settle waits until everything that was to be stored so far is stored: every writer has come to the end of the line.
func settle(t testing.TB, c *Client) {
	t.Helper()
	var there sync.WaitGroup
	there.Add(writers)
	for range writers {
		c.background <- func() { there.Done(); there.Wait() }
	}
	there.Wait()
}

// listen serves connections until the test ends.
func listen(t testing.TB, serve func(c net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var conns []net.Conn
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			wg.Go(func() { serve(c); _ = c.Close() })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

// silent takes everything and never answers.
func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// trickling begins an answer and does not end it.
func trickling(c net.Conn) {
	_, _ = c.Read(make([]byte, 100))
	for {
		if _, err := io.WriteString(c, "VALUE b 0 1\r\nx\r\n"); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// saying answers every request with the same bytes.
func saying(answer string) func(net.Conn) {
	return func(c net.Conn) {
		buf := make([]byte, 1<<20)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
		}
	}
}

// deadAddr is an address where nobody listens.
func deadAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// store is a URL set, a store of robots.txt files and a source of DNS answers in memory. asked counts what it was asked
// for.
type store struct {
	mu      sync.Mutex
	claimed map[urlID]crawl.MessageID
	out     map[urlID]crawl.MessageID
	robots  map[string]crawl.Robots
	addrs   []netip.Addr
	ttl     time.Duration
	asked   int
	err     error
}

type urlID struct {
	job crawl.JobID
	url weburl.Key
}

func newStore() *store {
	return &store{claimed: map[urlID]crawl.MessageID{}, out: map[urlID]crawl.MessageID{},
		robots: map[string]crawl.Robots{}}
}

func (s *store) Claim(_ context.Context, job crawl.JobID, by crawl.MessageID,
	list []crawl.Task) ([]crawl.Claimed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked += len(list)
	out, here := make([]crawl.Claimed, len(list)), map[urlID]bool{}
	for i := range list {
		k := urlID{job, list[i].URL.Key()}
		switch first, ok := s.claimed[k]; {
		case here[k]:
		case !ok:
			s.claimed[k], out[i] = by, crawl.New
		case first == by:
			out[i] = crawl.Repeat
		}
		here[k] = true
	}
	return out, s.err
}

func (s *store) Exclude(_ context.Context, job crawl.JobID, by crawl.MessageID,
	excl []crawl.Exclusion) ([]crawl.Claimed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked += len(excl)
	out, here := make([]crawl.Claimed, len(excl)), map[urlID]bool{}
	for i, x := range excl {
		k := urlID{job, x.URL.Key()}
		_, claimed := s.claimed[k]
		switch first, ok := s.out[k]; {
		case here[k], claimed:
		case !ok:
			s.out[k], out[i] = by, crawl.New
		case first == by:
			out[i] = crawl.Repeat
		}
		here[k] = true
	}
	return out, s.err
}

func (s *store) Robots(_ context.Context, origin string) (crawl.Robots, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	r, ok := s.robots[origin]
	return r, ok, s.err
}

func (s *store) PutRobots(_ context.Context, r crawl.Robots) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.robots[r.Origin] = r
	}
	return s.err
}

func (s *store) Resolve(context.Context, string) ([]netip.Addr, time.Duration, error) {
	s.asked++
	return s.addrs, s.ttl, s.err
}

// epoch is that of jobs that are never begun again.
func epoch(context.Context, crawl.JobID) (string, error) { return "1", nil }

func id(name string) crawl.MessageID { return crawl.MessageID{}.Child(name, 0) }

func mustURL(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
