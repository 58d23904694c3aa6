package fetcher

import (
	"context"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// firstWhole times crawl.Fetch.FirstWait bounds a whole request to a host that was hardly heard from.
const firstWhole = 3

// httpClient is the Client over HTTP. A call holds at most one connection.
type httpClient struct {
	transports *transports
}

var _ Client = (*httpClient)(nil)

// newHTTPClient returns a client whose connections m times.
func newHTTPClient(cfg Config, dns Resolver, m *metrics) (*httpClient, error) {
	t, err := newTransports(cfg, dns)
	if err != nil {
		return nil, err
	}
	dial := t.dial
	t.dial = func(private bool) dialFunc { return m.timing(dial(private)) }
	return &httpClient{t}, nil
}

// Close implements Client: it closes idle connections.
func (c *httpClient) Close() { c.transports.close() }

// Do implements Client.
func (c *httpClient) Do(ctx context.Context, r Request) (Exchange, error) {
	x := c.exchange(ctx, &r)
	if err := c.reachable(&r); err != nil {
		return x, err
	}
	return x, x.send(c.transports.get(&r.Job.Limits, r.Private))
}

// exchange prepares a request.
func (c *httpClient) exchange(ctx context.Context, r *Request) *httpExchange {
	limits := &r.Job.Limits
	proxied := c.transports.proxy != nil
	x := &httpExchange{limits: limits, first: r.FirstWait}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	whole := shorter(limits.Total.D(), firstWhole*r.FirstWait)
	x.watch = newWatch(whole, x.cancel)
	x.watch.hurried = whole != limits.Total.D()
	x.contact.prefer = preferred(r.Addr, proxied)
	x.contact.connect = limits.Connect.D()
	x.contact.proxied = proxied
	x.contact.cancel = x.cancel
	x.contact.onSend = func() { x.watch.arm(time.Now(), shorter(limits.FirstByte.D(), x.first)) }
	if x.first > 0 {
		x.watch.arm(time.Now(), x.first) // until there is a connection
	}
	x.req = newRequest(x.contact.context(x.ctx), r.Job, r.Task, c.transports.plain(r.Task.URL.Scheme())) //nolint:contextcheck // it is inherited: x.ctx
	if r.Header != nil || r.Form != nil {
		personalize(x.req, r)
	}
	return x
}

// preferred is the address to dial first: none through a proxy, which does the dialling.
func preferred(addr netip.Addr, proxied bool) netip.Addr {
	if proxied {
		return netip.Addr{}
	}
	return addr.Unmap()
}

// reachable checks what the dialer cannot when a proxy dials.
func (c *httpClient) reachable(r *Request) error {
	if c.transports.proxy == nil || r.Private {
		return nil
	}
	return netguard.CheckHost(r.Task.URL.Hostname())
}

// shorter is the shorter of two bounds, of which 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}
