package fetcher

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// httpExchange is one request over HTTP and its answer.
type httpExchange struct {
	limits  *crawl.Limits
	ctx     context.Context // of the request
	cancel  context.CancelCauseFunc
	watch   *watch
	first   time.Duration // see crawl.Fetch.FirstWait
	contact contact
	req     *http.Request
	resp    *http.Response // nil: no answer
	wire    wire
	replied time.Time // the answer's header was in
	slow    throttle
	pool    *pool  // of proxies; nil: there is none
	proxy   *proxy // through which it goes
	fault   string // see Answer.Insecure
}

// send sends the request and waits for the answer's header. After an error there is no answer.
func (x *httpExchange) send(rt http.RoundTripper) error {
	resp, err := rt.RoundTrip(x.req) //nolint:bodyclose // the exchange closes it at its end
	x.watch.disarm()
	x.replied = time.Now()
	if err != nil {
		return x.explain(err)
	}
	x.resp = resp
	x.wire = wire{ctx: x.ctx, src: resp.Body, watch: x.watch, last: x.replied, slow: x.slow,
		pace: pace{idle: x.limits.Idle.D(),
			rate: int64(x.limits.MinRate), window: x.limits.MinRateWindow.D()}}
	return nil
}

// explain replaces the error of a request that was cancelled by the reason for it.
func (x *httpExchange) explain(err error) error {
	switch cause := context.Cause(x.ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, errAlarm):
		return x.watch.reason(x.silence())
	default:
		return cause
	}
}

// silence says what the server did not do in time.
func (x *httpExchange) silence() error {
	switch {
	case !x.contact.connected():
		return errNoConnection
	case x.first > 0 && shorter(x.limits.FirstByte.D(), x.first) == x.first:
		return errNotHeard
	}
	return errNoReply
}

// byProxy says that a proxy refused, where no request got through it and the error does not tell.
func (x *httpExchange) byProxy(err error) error {
	if !x.contact.proxied || errors.Is(err, errRepeated) || diagnose(err).Reason != crawl.ReasonBroken {
		return err
	}
	if started, _ := x.contact.seen(); !started.IsZero() {
		return err
	}
	if _, through := x.contact.tunnelled(); through {
		return Fault{crawl.VerdictRetry, crawl.ReasonBroken, inHandshake}
	}
	return Fault{crawl.VerdictRetry, crawl.ReasonConnect, "the proxy refused: " + plain(err)}
}

// Answer implements Exchange.
func (x *httpExchange) Answer() Answer {
	if x.resp == nil {
		return Answer{}
	}
	return Answer{Code: x.resp.StatusCode, Status: x.resp.Status, Proto: x.resp.Proto, Header: x.resp.Header,
		Length: x.resp.ContentLength, At: x.replied, Insecure: x.fault}
}

// Sent implements Exchange.
func (x *httpExchange) Sent() http.Header {
	h := x.req.Header.Clone()
	h.Set("Host", x.req.Host)
	return h
}

// Read implements Exchange.
func (x *httpExchange) Read(p []byte) (int, error) { return x.wire.Read(p) }

// Close implements Exchange. An answer that was not read to its end is over when its connection is closed.
func (x *httpExchange) Close() (c Contact) {
	ended := x.replied
	if x.resp != nil {
		_ = x.resp.Body.Close()
		if ended = x.wire.last; x.wire.err != io.EOF {
			ended = time.Now()
		}
	}
	x.watch.disarm()
	x.cancel(context.Canceled)
	if x.pool != nil {
		x.pool.done(x.proxy)
		x.pool = nil
	}
	if c.Started, c.Addr = x.contact.seen(); c.Started.IsZero() {
		return c
	}
	c.Ended = ended
	if x.resp != nil {
		c.FirstByte = x.replied.Sub(c.Started)
	}
	return c
}
