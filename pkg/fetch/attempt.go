package fetch

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

// attempt is one request and its answer.
type attempt struct {
	job  *crawl.Job
	task *crawl.Task
	out  *crawl.Outcome

	ctx     context.Context // of the request
	cancel  context.CancelCauseFunc
	watch   *watch
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
	a.watch = newWatch(job.Limits.Total.D(), a.cancel)
	a.contact.prefer = preferred(f.Addr, h.transports.proxy != nil)
	a.contact.connect = job.Limits.Connect.D()
	a.contact.proxied = h.transports.proxy != nil
	a.contact.cancel = a.cancel
	a.contact.onSend = func() { a.watch.arm(time.Now(), job.Limits.FirstByte.D()) }
	a.req = newRequest(a.contact.context(a.ctx), job, a.task, h.transports.plain(f.Task.URL.Scheme()))
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
	resp, err := rt.RoundTrip(a.req)
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
	switch cause := context.Cause(a.ctx); cause {
	case nil:
		return err
	case errAlarm:
		return a.watch.reason(errNoReply)
	default:
		return cause
	}
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
