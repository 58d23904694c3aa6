package fetcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// proxyDialError says that a proxy cannot be connected to.
type proxyDialError struct{ err error }

func (e *proxyDialError) Error() string { return e.err.Error() }
func (e *proxyDialError) Unwrap() error { return e.err }

// tunnelError says that a proxy made no tunnel.
type tunnelError struct {
	status int
	marked bool
}

func (e *tunnelError) Error() string {
	return fmt.Sprintf("it answered CONNECT with %d %s", e.status, http.StatusText(e.status))
}

// dialProxy connects to the proxy, the only one that a transport with a proxy dials. The user named it, so it may have
// any address. ip is as in crawl.Network.
func dialProxy(ip string) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		d := net.Dialer{Timeout: contactOf(ctx).connect}
		conn, err := d.DialContext(ctx, network+ip, address)
		if err != nil {
			return nil, &proxyDialError{err}
		}
		contactOf(ctx).reachedProxy()
		return conn, nil
	}
}

// onTunnel judges a proxy's answer to CONNECT.
func onTunnel(ctx context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		contactOf(ctx).gotThrough()
		return nil
	}
	return &tunnelError{resp.StatusCode, marked(resp.Header)}
}

// judge says what an exchange through a proxy shows of the proxy. It returns the error that the exchange has then: one
// that is the proxy's is our own trouble. again: the host was not asked, and another proxy may be tried.
func (x *httpExchange) judge(p *pool, err error) (again bool, _ error) {
	var dial *proxyDialError
	var tunnel *tunnelError
	var op *net.OpError
	switch {
	case errors.As(err, &dial), errors.Is(err, errNoConnection) && x.contact.missedProxy():
		return true, x.proxyFault(p, err)
	case errors.As(err, &tunnel):
		return false, x.noTunnel(p, tunnel)
	case (errors.Is(err, errNoConnection) || errors.Is(err, context.DeadlineExceeded)) && x.mute():
		return false, x.muteProxy(p, err)
	case err != nil && strings.Contains(err.Error(), "socks"):
		return false, x.bySOCKS(p, err)
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return true, x.proxyFault(p, err)
	case err != nil:
		return false, x.byProxy(err)
	}
	return false, x.proxied(p)
}

func (x *httpExchange) proxyFault(p *pool, err error) error {
	p.fails(x.proxy, plain(err))
	return Fault{crawl.VerdictRetry, crawl.ReasonProxy, "the proxy " + x.proxy.name + " failed: " + plain(err)}
}

// noTunnel judges a refusal of CONNECT.
func (x *httpExchange) noTunnel(p *pool, e *tunnelError) error {
	switch {
	case e.status == http.StatusProxyAuthRequired:
		return x.proxyFault(p, fmt.Errorf("%w; the credentials stand in its URL", e))
	case unreachable(e.status) && p.cannotReach(x.proxy, e.Error()):
		return Fault{crawl.VerdictRetry, crawl.ReasonProxy, "the proxy " + x.proxy.name + " failed: " + e.Error()}
	}
	return Fault{crawl.VerdictRetry, crawl.ReasonConnect, "the proxy refused: " + e.Error()}
}

// mute reports whether a proxy took a CONNECT and said nothing. Of SOCKS nobody tells.
func (x *httpExchange) mute() bool {
	reached, through := x.contact.tunnelled()
	return reached && !through && x.req.URL.Scheme == "https" && !strings.HasPrefix(x.proxy.url.Scheme, "socks")
}

// muteProxy judges one: it, or the site, may be out of reach, as where it says so.
func (x *httpExchange) muteProxy(p *pool, err error) error {
	const why = "it did not answer CONNECT in time"
	if p.cannotReach(x.proxy, why) {
		return Fault{crawl.VerdictRetry, crawl.ReasonProxy, "the proxy " + x.proxy.name + " failed: " + why}
	}
	return err
}

// bySOCKS judges what a SOCKS proxy says: of the site, mostly.
func (x *httpExchange) bySOCKS(p *pool, err error) error {
	text := err.Error()
	for _, site := range []string{"host unreachable", "connection refused", "network unreachable", "TTL expired",
		"not allowed by ruleset"} {
		if strings.Contains(text, site) {
			return Fault{crawl.VerdictRetry, crawl.ReasonConnect, "the proxy refused: " + plain(err)}
		}
	}
	return x.proxyFault(p, err)
}

// proxied judges an answer that came through a proxy.
func (x *httpExchange) proxied(p *pool) error {
	status, h := x.resp.StatusCode, x.resp.Header
	why := fmt.Sprintf("it answered %d %s", status, http.StatusText(status))
	tunnelled := x.req.URL.Scheme == "https" || strings.HasPrefix(x.proxy.url.Scheme, "socks")
	switch {
	case tunnelled: // the site's own word
	case status == http.StatusProxyAuthRequired:
		return x.proxyFault(p, errors.New(why+"; the credentials stand in its URL"))
	case marked(h) && unreachable(status):
		if p.cannotReach(x.proxy, why) {
			return Fault{crawl.VerdictRetry, crawl.ReasonProxy, "the proxy " + x.proxy.name + " failed: " + why}
		}
		return nil
	case unreachable(status):
		if p.cannotReach(x.proxy, why) {
			return Fault{crawl.VerdictRetry, crawl.ReasonProxy, "the proxy " + x.proxy.name + " failed, it seems: " + why}
		}
		return nil
	}
	p.works(x.proxy)
	return nil
}
