package fetcher

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// drainMax is how much of a body that nobody wants is read so that its connection can be used again; closing it and
// opening another costs both sides more than that.
const drainMax = 64 << 10

// firstWhole times crawl.Fetch.FirstWait bounds a whole request to a host that was hardly heard from.
const firstWhole = 3

// attempt is one request and its answer.
type attempt struct {
	job  *crawl.Job
	task *crawl.Task
	out  *crawl.Outcome

	ctx     context.Context // of the request
	cancel  context.CancelCauseFunc
	watch   *watch
	first   time.Duration // see crawl.Fetch.FirstWait
	contact contact
	req     *http.Request
	resp    *http.Response // nil: no answer
	wire    wire
	replied time.Time // the answer's header was in
	done    bool      // finished
}

// newAttempt prepares the request for a lease.
func (h *Handler) newAttempt(ctx context.Context, job *crawl.Job, f *crawl.Fetch) *attempt {
	a := &attempt{job: job, task: &f.Task, out: &crawl.Outcome{Task: f.Task}}
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	whole := shorter(job.Limits.Total.D(), firstWhole*f.FirstWait)
	a.watch = newWatch(whole, a.cancel)
	a.watch.hurried = whole != job.Limits.Total.D()
	a.contact.prefer = preferred(f.Addr, h.transports.proxy != nil)
	a.contact.connect = job.Limits.Connect.D()
	a.contact.proxied = h.transports.proxy != nil
	a.contact.cancel = a.cancel
	a.contact.onSend = func() { a.watch.arm(time.Now(), shorter(job.Limits.FirstByte.D(), f.FirstWait)) }
	if a.first = f.FirstWait; a.first > 0 {
		a.watch.arm(time.Now(), a.first) // until there is a connection
	}
	a.req = newRequest(a.contact.context(a.ctx), job, a.task, h.transports.plain(f.Task.URL.Scheme())) //nolint:contextcheck // it is inherited: a.ctx
	return a
}

// preferred is the address to dial first: none through a proxy, which does the dialling.
func preferred(addr netip.Addr, proxied bool) netip.Addr {
	if proxied {
		return netip.Addr{}
	}
	return addr.Unmap()
}

// send sends the request and waits for the answer's header. After an error there is no answer.
func (a *attempt) send(rt http.RoundTripper) error {
	resp, err := rt.RoundTrip(a.req) //nolint:bodyclose // finish closes it
	a.watch.disarm()
	a.replied = time.Now()
	if err != nil {
		return a.explain(err)
	}
	a.resp = resp
	a.out.Status = resp.StatusCode
	a.wire = wire{ctx: a.ctx, src: resp.Body, watch: a.watch, last: a.replied, pace: pace{idle: a.job.Limits.Idle.D(),
		rate: int64(a.job.Limits.MinRate), window: a.job.Limits.MinRateWindow.D()}}
	return nil
}

// explain replaces the error of a request that was cancelled by the reason for it.
func (a *attempt) explain(err error) error {
	switch cause := context.Cause(a.ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, errAlarm):
		return a.watch.reason(a.silence())
	default:
		return cause
	}
}

// silence says what the server did not do in time.
func (a *attempt) silence() error {
	switch {
	case !a.contact.connected():
		return errNoConnection
	case a.first > 0 && shorter(a.job.Limits.FirstByte.D(), a.first) == a.first:
		return errNotHeard
	}
	return errNoReply
}

// shorter is the shorter of two bounds, of which 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// body returns a reader of the decoded body, cut at limit.
func (a *attempt) body(limit int64) (*body, error) { return newBody(&a.wire, a.resp.Header, limit) }

// drain reads what is left of a small body, so that the connection is used again.
func (a *attempt) drain() {
	if a.wire.err != nil || a.resp.ContentLength > drainMax {
		return
	}
	a.wire.max = a.wire.n + drainMax
	buf := copyPool.Get().(*[copyBuffer]byte)
	defer copyPool.Put(buf)
	for a.wire.err == nil {
		_, _ = a.wire.Read(buf[:])
	}
}

// finish ends the exchange and notes when it began and ended and with whom. An answer that was not read to its end is
// over when its connection is closed.
func (a *attempt) finish() {
	if a.done {
		return
	}
	a.done = true
	ended := a.replied
	if a.resp != nil {
		_ = a.resp.Body.Close()
		if ended = a.wire.last; a.wire.err != io.EOF {
			ended = time.Now()
		}
	}
	a.watch.disarm()
	a.cancel(context.Canceled)
	started, addr := a.contact.seen()
	a.out.Addr = addr
	if started.IsZero() {
		return
	}
	a.out.Started, a.out.Ended = started, ended
	if a.resp != nil {
		a.out.FirstByte = a.replied.Sub(started)
	}
}

// failed makes the outcome of an attempt whose answer was not to be had.
func (a *attempt) failed(err error) {
	diagnose(err).apply(a.out)
	if a.contact.proxied && a.resp == nil && a.out.Reason == crawl.ReasonBroken && !errors.Is(err, errRepeated) {
		if started, _ := a.contact.seen(); started.IsZero() {
			a.out.Reason, a.out.Detail = crawl.ReasonConnect, "the proxy refused: "+plain(err)
		}
	}
}
