package fetcher

import (
	"context"
	"errors"
	"io"
	"time"
)

// Why a read was ended. They are compared by identity and worded for people by describe.
var (
	errAlarm   = errors.New("time is up") // cause of the context; turned into one of the others where it is seen
	errTotal   = errors.New("the fetch took too long")
	errIdle    = errors.New("the server stopped sending")
	errNoReply = errors.New("the server did not answer")
	// A host that was hardly heard from gets less time, doubled with each attempt.
	errNotHeard     = errors.New("the server, which was hardly heard from, did not answer in time; the next attempt waits longer")
	errHurried      = errors.New("the fetch took too long for a server that was hardly heard from; the next attempt may take longer")
	errNoConnection = errors.New("no connection came about in the time that a host gets that was hardly heard from")
	errTooSlow      = errors.New("the server sends too slowly")
	errTooLong      = errors.New("more octets than any body we want has")
)

// watch cancels an attempt that takes too long. It has one timer, armed for each wait on the network and disarmed in
// between, so that a slow spool is not blamed on the server.
type watch struct {
	end     time.Time // of the whole fetch
	hurried bool      // for a host that was hardly heard from
	cancel  context.CancelCauseFunc
	timer   *time.Timer
}

// newWatch starts a watch, armed for the whole of total; 0: no bound.
func newWatch(total time.Duration, cancel context.CancelCauseFunc) *watch {
	if total <= 0 {
		total = time.Duration(1<<63 - 1)
	}
	return &watch{end: time.Now().Add(total), cancel: cancel, timer: time.AfterFunc(total, func() { cancel(errAlarm) })}
}

// arm gives the next wait at most d, where d is more than 0, and what is left of the whole.
func (w *watch) arm(now time.Time, d time.Duration) {
	left := w.end.Sub(now)
	if d > 0 {
		left = min(left, d)
	}
	w.timer.Reset(left)
}

// disarm ends the wait.
func (w *watch) disarm() { w.timer.Stop() }

// reason tells why the attempt's context is done: the whole fetch or only what was last waited for.
func (w *watch) reason(single error) error {
	if !time.Now().Before(w.end) {
		return w.over()
	}
	return single
}

// over is why the whole fetch is over.
func (w *watch) over() error {
	if w.hurried {
		return errHurried
	}
	return errTotal
}

// pace bounds how a body may come.
type pace struct {
	idle   time.Duration // between two reads; 0: no bound
	rate   int64         // least octets a second over window; 0: no bound
	window time.Duration
}

// wire reads a body from the network: watched and counted. It is used by one goroutine.
type wire struct {
	ctx   context.Context // of the attempt; its cause tells why a read failed
	src   io.ReadCloser
	watch *watch
	pace  pace
	max   int64 // octets, before decoding

	n      int64
	err    error     // sticky; io.EOF when the body was whole
	last   time.Time // end of the last read
	waited time.Duration
	came   int64 // octets while waited
}

// Read implements io.Reader.
func (w *wire) Read(p []byte) (int, error) {
	if w.err == nil && w.n >= w.max {
		w.err = errTooLong
	}
	if w.err != nil {
		return 0, w.err
	}
	start := time.Now()
	w.watch.arm(start, w.pace.idle)
	n, err := w.src.Read(p)
	w.watch.disarm()
	w.last = time.Now()
	w.n += int64(n)
	w.err = w.judge(n, w.last.Sub(start), err)
	return n, w.err
}

// judge says what a read means for the body.
func (w *wire) judge(n int, took time.Duration, err error) error {
	switch {
	case err == io.EOF:
		return err
	case err != nil && errors.Is(context.Cause(w.ctx), errAlarm):
		return w.watch.reason(errIdle)
	case err != nil:
		return err
	case !w.last.Before(w.watch.end):
		return w.watch.over()
	}
	w.waited += took
	w.came += int64(n)
	if w.pace.rate <= 0 || w.pace.window <= 0 || w.waited < w.pace.window {
		return nil
	}
	slow := float64(w.came) < float64(w.pace.rate)*w.waited.Seconds()
	w.waited, w.came = 0, 0
	if slow {
		return errTooSlow
	}
	return nil
}

// fault returns why the body could not be read to its end, or nil.
func (w *wire) fault() error {
	if w.err == io.EOF || errors.Is(w.err, errTooLong) {
		return nil
	}
	return w.err
}
