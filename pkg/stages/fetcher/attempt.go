package fetcher

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// drainMax is how much of an unwanted body is read so that its connection can be used again. Opening another connection
// would cost both sides more.
const drainMax = 64 << 10

// attempt is one exchange and what it means for its task.
type attempt struct {
	job      *crawl.Job
	task     *crawl.Task
	out      *crawl.Outcome
	exchange Exchange // nil before the request
	answer   Answer   // zero: none
	src      source
	done     bool // finished

	newCookies bool                // the answer changed the jar of its site
	change     crawl.RequestChange // what plug-ins made of the request
	login      uint64              // number of the log-in that the request was made under; 0: there is none
	capture    crawl.Capture       // names the answer in the archive
}

// send makes the request. After an error there is no answer.
func (a *attempt) send(ctx context.Context, c Client, r Request) (err error) {
	a.exchange, err = c.Do(ctx, r)
	if err != nil {
		return err
	}
	a.answer, a.src.from = a.exchange.Answer(), a.exchange
	a.out.Status = a.answer.Code
	if a.answer.Insecure != "" {
		a.out.Insecure, a.out.Detail = true, "insecure: the certificate is not valid: "+a.answer.Insecure
	}
	return nil
}

// body returns a reader of the decoded body, cut at limit.
func (a *attempt) body(limit int64) (*body, error) { return newBody(&a.src, a.answer.Header, limit) }

// drain reads what is left of a small body, so that the connection is used again.
func (a *attempt) drain() {
	if a.src.err != nil || a.answer.Length > drainMax {
		return
	}
	a.src.max = a.src.n + drainMax
	buf := copyPool.Get().(*[copyBuffer]byte)
	defer copyPool.Put(buf)
	for a.src.err == nil {
		_, _ = a.src.Read(buf[:])
	}
}

// finish ends the exchange and notes when it began and ended and with whom.
func (a *attempt) finish() {
	if a.done || a.exchange == nil {
		return
	}
	a.done = true
	a.out.Wire = a.src.n
	c := a.exchange.Close()
	a.out.Addr = c.Addr
	if !c.Started.IsZero() {
		a.out.Started, a.out.Ended, a.out.FirstByte = c.Started, c.Ended, c.FirstByte
	}
}

// failed makes the outcome of an attempt whose answer was not to be had.
func (a *attempt) failed(err error) {
	diagnose(err).apply(a.out)
	a.out.Slow = a.out.Slow || isCalm(err)
}
