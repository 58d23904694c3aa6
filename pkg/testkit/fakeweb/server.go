package fakeweb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// Options say how a web is served. The zero value keeps the log in memory and says nothing.
type Options struct {
	// LogFile receives every request as a JSON line; an existing file is replaced. With a file the log is kept in
	// memory only if KeepLog is set, so that long crawls cost no memory.
	LogFile string
	KeepLog bool
	// Port is the port of all addresses; 0 chooses one that is free on all of them.
	Port int
	// Network is a /16 in whose addresses the hosts are served in place of 127.80.0.0/16, DNS at x.x.0.254; the zero
	// value: loopback. It is for networks without a way out that a test has made, in network namespaces, where other
	// namespaces are to reach the web. All addresses must be the machine's own.
	Network netip.Prefix
	// Logger hears about connections that cannot be accepted; nil is silent.
	Logger *slog.Logger
}

// Server serves a Web on loopback, or in a network of a test's own.
type Server struct {
	web       *Web
	log       *Log
	logger    *slog.Logger
	noise     []byte
	listeners []net.Listener
	network   network
	dns       *dnsServer
	authority *authority

	begin  time.Time
	closed chan struct{}
	once   sync.Once
	err    error
	work   sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	visits map[int]int // of pages that are unavailable at first: bounded by their number

	lastConn atomic.Uint64
	holds    atomic.Bool  // see Hold
	held     atomic.Int64 // requests
	dated    atomic.Pointer[stamp]
	gzips    sync.Pool
}

// stamp is a formatted Date header and the second it is good for.
type stamp struct {
	unix int64
	text string
}

// Serve serves a web until ctx ends or Close is called. The URLs of the web get the server's port: use [Server.Web]
// and not w afterwards.
func Serve(ctx context.Context, w *Web, opts Options) (*Server, error) {
	if err := w.cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Server{
		begin: time.Now(), closed: make(chan struct{}), logger: opts.Logger, noise: noise(w.cfg),
		conns: make(map[net.Conn]struct{}), visits: make(map[int]int),
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if err := s.start(w, opts); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	go func() {
		<-s.closed
		stop()
	}()
	return s, nil
}

// start opens the sockets and files in the order in which their failure is likely.
func (s *Server) start(w *Web, opts Options) (err error) {
	s.network.shared = w.cfg.addresses()
	if opts.Network.IsValid() {
		if !opts.Network.Addr().Is4() || opts.Network.Bits() != 16 {
			return fmt.Errorf("fakeweb: the network is %v, want an IPv4 network of 16 bits", opts.Network)
		}
		s.network.base = opts.Network.Masked().Addr()
	}
	if s.listeners, err = s.network.open(opts.Port); err != nil {
		return err
	}
	s.network.shared = len(s.listeners)
	s.web = w.WithPort(s.listeners[0].Addr().(*net.TCPAddr).Port)
	if s.log, err = newLog(s.begin, opts.KeepLog || opts.LogFile == "", opts.LogFile); err != nil {
		return err
	}
	if w.cfg.TLS {
		if s.authority, err = newAuthority(s.begin); err != nil {
			return err
		}
		for i, l := range s.listeners {
			s.listeners[i] = tls.NewListener(l, s.authority.config())
		}
	}
	if s.dns, err = serveDNS(s.web, s.network, &s.work); err != nil {
		return err
	}
	for _, l := range s.listeners {
		s.work.Go(func() { s.accept(l) })
	}
	return nil
}

// listenTries bounds the search for a port that is free on all addresses.
const listenTries = 50

// A port that is chosen lies below those that systems give to clients: a server that is closed and opened again at its
// port, as tests do to have the same URLs, finds no client's connection there. deploy/services takes 20000 and above.
const (
	firstPort = 10_000
	ports     = 10_000
)

// open opens the addresses at one port. Where of loopback only 127.0.0.1 exists, it opens that alone.
func (n network) open(port int) ([]net.Listener, error) {
	var last error
	for range listenTries {
		at := port
		if at == 0 {
			at = firstPort + rand.IntN(ports)
		}
		ls, err := n.openAt(at)
		if err == nil {
			return ls, nil
		}
		if system.NoAddress(err) && n.shared > 1 && !n.base.IsValid() {
			n.shared = 1
			continue
		}
		last = err
		if port != 0 {
			break
		}
	}
	return nil, fmt.Errorf("fakeweb: listening on %d addresses: %w", n.shared, last)
}

// openAt opens all addresses at a port.
func (n network) openAt(port int) (ls []net.Listener, err error) {
	for i := range n.shared {
		addr := netip.AddrPortFrom(n.listen(i), uint16(port))
		l, err := net.Listen("tcp4", addr.String())
		if err != nil {
			for _, l := range ls {
				l.Close()
			}
			return nil, err
		}
		ls = append(ls, l)
	}
	return ls, nil
}

func (s *Server) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // most likely out of file descriptors: give the others time to end
			s.logger.Warn("fakeweb: accepting a connection", "address", l.Addr().String(), "error", err)
			select {
			case <-time.After(10 * time.Millisecond):
				continue
			case <-s.closed:
				return
			}
		}
		if !s.track(c) {
			c.Close()
			return
		}
		s.work.Go(func() {
			defer s.forget(c)
			s.newConn(c, s.lastConn.Add(1)).serve()
		})
	}
}

// track remembers a connection for Close; it refuses once the server is closed.
func (s *Server) track(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) forget(c net.Conn) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// Connections is how many connections are open, as far as the server has noticed.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// visit counts a visit of an unavailable page and returns how many came before.
func (s *Server) visit(id int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.visits[id]
	s.visits[id] = n + 1
	return n
}

// age is how long the web has been there at a moment of the log.
func (s *Server) age(now int64) time.Duration { return time.Duration(now - s.begin.UnixNano()) }

// date is the current Date header.
func (s *Server) date() string {
	now := time.Now()
	if d := s.dated.Load(); d != nil && d.unix == now.Unix() {
		return d.text
	}
	d := &stamp{now.Unix(), now.UTC().Format(http.TimeFormat)}
	s.dated.Store(d)
	return d.text
}

// noise makes the header fields nobody needs.
func noise(c Config) []byte {
	var b []byte
	s := stream(c.Seed)
	l := &languages()[0]
	for range c.HeaderNoise {
		b = l.appendWord(append(b, "X-"...), s.next())
		b = append(b, ": "...)
		for range 4 {
			b = append(l.appendWord(b, s.next()), "; "...)
		}
		b = append(b, "\r\n"...)
	}
	return b
}

// Web is the web served, with the server's port in its URLs.
func (s *Server) Web() *Web { return s.web }

// Port is the port of all addresses.
func (s *Server) Port() int { return s.web.port }

// Hold has all requests wait from now on that no answer was begun for, until their clients go or [Server.Release].
func (s *Server) Hold() { s.holds.Store(true) }

// Release ends what Hold began: what waits is answered.
func (s *Server) Release() { s.holds.Store(false) }

// Held is how many requests wait because of Hold.
func (s *Server) Held() int { return int(s.held.Load()) }

// DNSAddr is where the server answers DNS, over UDP and TCP.
func (s *Server) DNSAddr() string { return s.dns.addr }

// DNSQueries is how many questions were asked so far.
func (s *Server) DNSQueries() int { return int(s.dns.queries.Load()) }

// Log is the record of all requests.
func (s *Server) Log() *Log { return s.log }

// Begin is when the web began: ages of changing pages count from here.
func (s *Server) Begin() time.Time { return s.begin }

// Addr is where an ordinary, slow or trap host is served, and where a dead one is not. ok is false for names that do
// not resolve.
func (s *Server) Addr(host string) (addr netip.AddrPort, ok bool) {
	h, ok := s.web.parseHost(strings.ToLower(host))
	if !ok || h.kind == unknown {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(s.network.address(h), uint16(s.Port())), true
}

// Close ends all connections and listeners, waits for them, and closes the log. It may be called repeatedly.
func (s *Server) Close() error {
	s.once.Do(func() {
		close(s.closed)
		for _, l := range s.listeners {
			s.err = errors.Join(s.err, l.Close())
		}
		if s.dns != nil {
			s.err = errors.Join(s.err, s.dns.close())
		}
		s.mu.Lock()
		for c := range s.conns {
			c.Close()
		}
		s.conns = nil
		s.mu.Unlock()
		s.work.Wait()
		if s.log != nil {
			s.err = errors.Join(s.err, s.log.close())
		}
	})
	return s.err
}
