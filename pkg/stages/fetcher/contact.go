package fetcher

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync"
	"time"
)

// errRepeated stops a request that net/http is about to send a second time.
var errRepeated = errors.New("the server closed the connection before it answered")

// contact is what one attempt tells the dialer, and learns from it and from the transport. The goroutine that dials may
// outlive the request, hence the lock.
type contact struct {
	prefer  netip.Addr    // dialled first where valid
	connect time.Duration // bound of connecting; 0: none
	proxied bool          // connections lead to a proxy, whose address tells nothing
	proxy   *url.URL      // that proxy
	cancel  context.CancelCauseFunc
	onSend  func() // called just before the request is sent

	trace httptrace.ClientTrace

	mu      sync.Mutex
	started time.Time  // zero: the host was not contacted
	addr    netip.Addr // of the host
	conns   int
	reached bool                 // the proxy
	through bool                 // it made a tunnel
	tls     *tls.ConnectionState // of a connection that net/http does not know to be one of TLS
}

type contactKey struct{}

// context returns a context whose requests and dials report to c.
func (c *contact) context(ctx context.Context) context.Context {
	c.trace.GotConn = c.gotConn
	return httptrace.WithClientTrace(context.WithValue(ctx, contactKey{}, c), &c.trace)
}

// contactOf returns the contact of a request's context; an empty one where there is none.
func contactOf(ctx context.Context) *contact {
	if c, ok := ctx.Value(contactKey{}).(*contact); ok {
		return c
	}
	return &contact{}
}

// dialling notes that addr is about to be connected to: from here on the host is bothered.
func (c *contact) dialling(addr netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == 0 {
		c.started, c.addr = time.Now(), addr
	}
}

// gotConn is called by the transport when it has a connection and is about to write the request. The second time is a
// repetition. The connection is closed before anything is written: cancelling alone may lose the race against the
// transport's writing goroutine. An HTTP/2 connection is shared and looks for the cancellation itself before it writes.
func (c *contact) gotConn(info httptrace.GotConnInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns++; c.conns > 1 {
		c.cancel(errRepeated)
		if !isHTTP2(info.Conn) {
			_ = info.Conn.Close()
		}
		return
	}
	if t, ok := info.Conn.(*tolerantConn); ok {
		c.tls = t.tls()
		t.asked()
	}
	c.started = time.Now()
	if !c.proxied {
		c.addr = remote(info.Conn)
	}
	c.onSend()
}

// reachedProxy notes that there is a connection to the proxy.
func (c *contact) reachedProxy() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reached = true
}

// gotThrough notes that the proxy made a tunnel: what goes wrong from here on is the site's.
func (c *contact) gotThrough() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.through = true
}

// tunnelled reports whether the proxy was reached, and whether it made a tunnel.
func (c *contact) tunnelled() (reached, through bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reached, c.through
}

// missedProxy reports whether the proxy was not connected to.
func (c *contact) missedProxy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.reached && c.conns == 0
}

// seen returns when the request was sent, or the connection tried, and to which address.
func (c *contact) seen() (time.Time, netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started, c.addr
}

// state is that of the connection's TLS, where net/http does not tell it; nil: there is none.
func (c *contact) state() *tls.ConnectionState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tls
}

// connected reports whether there was a connection to send the request over.
func (c *contact) connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conns > 0
}

func isHTTP2(conn net.Conn) bool {
	t, ok := conn.(*tls.Conn)
	return ok && t.ConnectionState().NegotiatedProtocol == "h2"
}

func remote(conn net.Conn) netip.Addr {
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
