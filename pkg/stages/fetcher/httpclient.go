package fetcher

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// firstWhole times crawl.Fetch.FirstWait bounds a whole request to a host that was hardly heard from.
const firstWhole = 3

// httpClient is the Client over HTTP. A call holds at most one connection.
type httpClient struct {
	transports *transports
	proxies    pools
	meters     meters
	verifier   verifier
	old        oldHosts
}

var _ Client = (*httpClient)(nil)

// newHTTPClient returns a client whose connections m times.
func newHTTPClient(cfg Config, dns Resolver, m *metrics) (*httpClient, error) {
	t, err := newTransports(cfg, dns)
	if err != nil {
		return nil, err
	}
	dial := t.dial
	t.dial = func(key transportKey) dialFunc { return m.timing(dial(key)) }
	return &httpClient{transports: t, verifier: verifier{roots: cfg.RootCAs}}, nil
}

// Close implements Client: it closes idle connections.
func (c *httpClient) Close() { c.transports.close() }

// Do implements Client.
func (c *httpClient) Do(ctx context.Context, r Request) (Exchange, error) {
	pool, err := c.proxies.of(r.Job, c.transports.cfg.Proxy)
	if err != nil {
		return noExchange{}, err
	}
	if pool == nil {
		x := c.exchange(ctx, &r, nil)
		return x, c.send(x, &r)
	}
	if !r.Private { // the dialer cannot check what a proxy dials
		if err := netguard.CheckHost(r.Task.URL.Hostname()); err != nil {
			return noExchange{}, err
		}
	}
	for try := 1; ; try++ {
		p, err := pool.take(ctx)
		if err != nil {
			return noExchange{}, err
		}
		x := c.exchange(ctx, &r, p)
		x.pool = pool
		again, err := x.judge(pool, c.send(x, &r))
		if err == nil || !again || try == maxProxyTries || ctx.Err() != nil {
			return x, err
		}
		_ = x.Close()
	}
}

// send makes the request of an exchange.
func (c *httpClient) send(x *httpExchange, r *Request) error {
	way := routeOf(r.Job, r.Task.URL, x.proxy != nil)
	way.http1 = c.old.has(r.Task.URL.HostKey())
	err := x.send(c.transports.get(&r.Job.Limits, r.Private, way))
	c.old.learn(r.Task.URL.HostKey(), err)
	if err == nil && r.Job.Network.Insecure {
		state := x.resp.TLS
		if state == nil {
			state = x.contact.state()
		}
		x.fault = c.verifier.fault(r.Task.URL.Hostname(), state)
	}
	return err
}

// exchange prepares a request. p is the proxy that it goes through; nil: none.
func (c *httpClient) exchange(ctx context.Context, r *Request, p *proxy) *httpExchange {
	limits := &r.Job.Limits
	x := &httpExchange{limits: limits, first: r.FirstWait, proxy: p}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	whole := shorter(limits.Total.D(), firstWhole*r.FirstWait)
	x.watch = newWatch(whole, x.cancel)
	x.watch.hurried = whole != limits.Total.D()
	x.contact.prefer = preferred(r.Addr, p != nil)
	x.contact.connect = limits.Connect.D()
	if p != nil {
		x.contact.proxied, x.contact.proxy = true, p.url
	}
	if r.Bandwidth > 0 {
		x.slow = throttle{c.meters.of(r.Job.ID), r.Bandwidth, limits.Total.D()}
	}
	x.contact.cancel = x.cancel
	x.contact.onSend = func() { x.watch.arm(time.Now(), shorter(limits.FirstByte.D(), x.first)) }
	if x.first > 0 {
		x.watch.arm(time.Now(), x.first) // until there is a connection
	}
	x.req = newRequest(x.contact.context(x.ctx), r.Job, r.Task, p.plain(r.Task.URL.Scheme())) //nolint:contextcheck // it is inherited: x.ctx
	if r.Header != nil || r.Form != nil {
		personalize(x.req, r)
	}
	return x
}

// noExchange is that of a request that was not made.
type noExchange struct{}

// Answer implements Exchange.
func (noExchange) Answer() Answer { return Answer{} }

// Sent implements Exchange.
func (noExchange) Sent() http.Header { return http.Header{} }

// Read implements Exchange.
func (noExchange) Read([]byte) (int, error) { return 0, io.EOF }

// Close implements Exchange.
func (noExchange) Close() Contact { return Contact{} }

// preferred is the address to dial first: none through a proxy, which does the dialling.
func preferred(addr netip.Addr, proxied bool) netip.Addr {
	if proxied {
		return netip.Addr{}
	}
	return addr.Unmap()
}

// shorter is the shorter of two bounds, of which 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}
