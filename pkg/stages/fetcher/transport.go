package fetcher

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Sizes of the transport. A page is mostly read in few large pieces, so larger buffers than net/http's 4 KiB save
// system calls; more than 16 connections to one host are nobody's idea of politeness.
const (
	readBuffer     = 16 << 10
	maxIdlePerHost = 16
	tlsSessions    = 1024
	maxTransports  = 16
)

// transportKey holds the limits of a job that net/http knows only for a whole transport.
//
// private says that it may reach addresses that are not public: a connection there must not serve a job that may not.
type transportKey struct {
	maxHeader    int64
	tlsHandshake time.Duration
	private      bool
}

// transports has one transport for each combination of such limits: one, unless jobs differ. Connections are shared by
// jobs with the same limits.
type transports struct {
	cfg   Config
	proxy *url.URL
	dial  func(private bool) dialFunc

	mu    sync.Mutex
	byKey map[transportKey]*http.Transport
}

func newTransports(cfg Config, dns Resolver) (*transports, error) {
	proxy, err := cfg.proxyURL()
	if err != nil {
		return nil, err
	}
	t := &transports{cfg: cfg, proxy: proxy, byKey: map[transportKey]*http.Transport{}}
	t.dial = func(private bool) dialFunc { return newDialer(dns, private).dial }
	if proxy != nil {
		t.dial = func(bool) dialFunc { return dialProxy }
	}
	return t, nil
}

// dialProxy connects to the proxy, the only one that a transport with a proxy dials. The user named it, so it may have
// any address.
func dialProxy(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: contactOf(ctx).connect}
	return d.DialContext(ctx, network, address)
}

// get returns the transport for limits.
func (t *transports) get(limits *crawl.Limits, private bool) *http.Transport {
	key := transportKey{int64(limits.MaxHeader), limits.TLSHandshake.D(), private}
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

func (t *transports) build(key transportKey) *http.Transport {
	tr := &http.Transport{
		DialContext:            t.dial(key.private),
		TLSClientConfig:        &tls.Config{RootCAs: t.cfg.RootCAs, ClientSessionCache: tls.NewLRUClientSessionCache(tlsSessions)},
		TLSHandshakeTimeout:    key.tlsHandshake,
		DisableCompression:     true, // bodies are decoded here, under our limits
		MaxIdleConns:           t.cfg.MaxIdleConns,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        t.cfg.IdleConnTimeout,
		MaxResponseHeaderBytes: key.maxHeader,
		ReadBufferSize:         readBuffer,
		ForceAttemptHTTP2:      true,
	}
	if t.proxy != nil {
		tr.Proxy = http.ProxyURL(t.proxy)
	}
	return tr
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

// plain reports whether requests to scheme are sent to the proxy in absolute form instead of through a tunnel.
func (t *transports) plain(scheme string) bool {
	return t.proxy != nil && scheme == "http" && (t.proxy.Scheme == "http" || t.proxy.Scheme == "https")
}
