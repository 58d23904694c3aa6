package fetcher

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// Sizes of the transport. A page is mostly read in few large pieces, so larger buffers than net/http's 4 KiB save
// system calls. How many requests a host gets at once is up to the frontier; who allows many to a host of their own
// need not connect anew for most of them.
const (
	readBuffer     = 16 << 10
	maxIdlePerHost = 64
	tlsSessions    = 1024
	maxTransports  = 16
)

// transportKey holds the limits of a job that net/http knows only for a whole transport, and the way to the host.
//
// private says that it may reach addresses that are not public: a connection there must not serve a job that may not.
// The same holds of what else tells connections apart: whether certificates are checked, and who the crawler is.
type transportKey struct {
	maxHeader    int64
	tlsHandshake time.Duration
	private      bool
	route        route
}

// transports has one transport for each combination of such limits: one, unless jobs differ. Connections are shared by
// jobs with the same limits.
type transports struct {
	cfg    Config
	dial   func(key transportKey) dialFunc
	silent time.Duration // silentHTTP2

	mu    sync.Mutex
	byKey map[transportKey]*http.Transport
}

func newTransports(cfg Config, dns Resolver) (*transports, error) {
	if err := cfg.checkProxy(); err != nil {
		return nil, err
	}
	t := &transports{cfg: cfg, silent: silentHTTP2, byKey: map[transportKey]*http.Transport{}}
	t.dial = func(key transportKey) dialFunc {
		if key.route.proxied {
			return dialProxy(key.route.ip)
		}
		d := newDialer(dns, key.private)
		d.way = key.route.way()
		return d.dial
	}
	return t, nil
}

// get returns the transport for limits.
func (t *transports) get(limits *crawl.Limits, private bool, r route) *http.Transport {
	key := transportKey{int64(limits.MaxHeader), limits.TLSHandshake.D(), private, r}
	t.mu.Lock()
	defer t.mu.Unlock()
	tr, ok := t.byKey[key]
	if !ok {
		if len(t.byKey) >= maxTransports {
			t.dropAll()
		}
		tr = t.build(key)
		t.byKey[key] = tr
	}
	return tr
}

// silentHTTP2 is how long a connection of HTTP/2 may be silent until it is asked whether it lives, and how long the
// answer may take. Servers answer pings at once, however long a page takes; much less would be taken for abuse by some.
const silentHTTP2 = 10 * time.Second

func (t *transports) build(key transportKey) *http.Transport {
	dial := t.dial(key)
	tr := &http.Transport{
		DialContext:            key.mended(dial),
		TLSClientConfig:        t.tls(&key.route),
		TLSHandshakeTimeout:    key.tlsHandshake,
		DisableCompression:     true, // bodies are decoded here, under our limits
		MaxIdleConns:           t.cfg.MaxIdleConns,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        t.cfg.IdleConnTimeout,
		MaxResponseHeaderBytes: key.maxHeader,
		ReadBufferSize:         readBuffer,
		ForceAttemptHTTP2:      true,
		// All requests to a host share a connection of HTTP/2. One that a box on the way forgot answers nothing and is
		// not closed: without the ping every retry would use it again.
		HTTP2: &http.HTTP2Config{SendPingTimeout: t.silent, PingTimeout: t.silent},
	}
	if key.route.http1 {
		tr.ForceAttemptHTTP2, tr.Protocols = false, new(http.Protocols)
		tr.Protocols.SetHTTP1(true)
	}
	if key.route.proxied {
		tr.Proxy = func(r *http.Request) (*url.URL, error) { return contactOf(r.Context()).proxy, nil }
		tr.OnProxyConnectResponse = onTunnel
	} else {
		tr.DialTLSContext = secure{dial, tr.TLSClientConfig, &key}.connect
	}
	return tr
}

// mended returns dial with connections whose answers are mended. Where net/http puts TLS on one, nothing is.
func (k *transportKey) mended(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return tolerant(conn, k.maxHeader), nil
	}
}

// errHandshake says that a handshake took too long, in the words of net/http.
var errHandshake = errors.New("net/http: TLS handshake timeout")

// inHandshake says that a server hung up.
const inHandshake = "the server closed the connection within the TLS handshake"

// secure makes connections of TLS. net/http does so itself, but it would mend no answers.
type secure struct {
	dial   dialFunc
	config *tls.Config
	key    *transportKey
}

// connect connects to address and agrees on encryption and version of HTTP.
func (s secure) connect(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	raw, err := s.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := s.config.Clone()
	config.ServerName, config.NextProtos = host, []string{"h2", "http/1.1"}
	if s.key.route.http1 {
		config.NextProtos = nil
	}
	conn := tls.Client(raw, config)
	if limit := s.key.tlsHandshake; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errHandshake)
		defer cancel()
	}
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		switch {
		case errors.Is(context.Cause(ctx), errHandshake):
			err = errHandshake
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), system.Reset(err):
			err = Fault{crawl.VerdictRetry, crawl.ReasonBroken, inHandshake}
		}
		return nil, err
	}
	if conn.ConnectionState().NegotiatedProtocol == "h2" {
		return conn, nil
	}
	return tolerant(conn, s.key.maxHeader), nil
}

// tls is how servers are known, and how they know the crawler.
func (t *transports) tls(r *route) *tls.Config {
	c := &tls.Config{RootCAs: t.cfg.RootCAs, ClientSessionCache: tls.NewLRUClientSessionCache(tlsSessions)}
	if r.insecure {
		c.InsecureSkipVerify = true //nolint:gosec // the user asks for it; each record of such an answer says so
	}
	if r.cert != "" {
		c.GetClientCertificate = identify(r.cert, r.key)
	}
	return c
}

// dropAll forgets all transports. Requests under way go on; their connections are closed when they become idle.
func (t *transports) dropAll() {
	for key, tr := range t.byKey {
		tr.CloseIdleConnections()
		delete(t.byKey, key)
	}
}

// close closes the connections that no request uses.
func (t *transports) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropAll()
}

// plain reports whether a request to scheme is sent to the proxy in absolute form instead of through a tunnel.
func (p *proxy) plain(scheme string) bool {
	return p != nil && scheme == "http" && (p.url.Scheme == "http" || p.url.Scheme == "https")
}
