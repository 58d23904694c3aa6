package fetcher

import (
	"context"
	"errors"
	"io"
	"time"
)

// pace bounds how a body may come.
type pace struct {
	idle   time.Duration // between two reads; 0: no bound
	rate   int64         // least octets a second over window; 0: no bound
	window time.Duration
}

// wire reads a body from the network: watched and timed. It is used by one goroutine.
type wire struct {
	ctx   context.Context // of the exchange; its cause tells why a read failed
	src   io.ReadCloser
	watch *watch
	pace  pace
	slow  throttle

	err    error     // sticky; io.EOF when the body was whole
	last   time.Time // end of the last read
	waited time.Duration
	came   int64 // octets while waited
}

// Read implements io.Reader.
func (w *wire) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	start := time.Now()
	w.watch.arm(start, w.pace.idle)
	n, err := w.src.Read(p)
	w.watch.disarm()
	w.last = time.Now()
	w.err = w.judge(n, w.last.Sub(start), err)
	w.watch.end = w.watch.end.Add(w.slow.pass(w.ctx, n))
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
