package fetcher

import (
	"context"
	"errors"
	"time"
)

// Why a read was ended. They are compared by identity and worded for people by describe.
var (
	errAlarm   = errors.New("time is up") // cause of the context; turned into one of the others where it is seen
	errTotal   = errors.New("the fetch took too long")
	errIdle    = errors.New("the server stopped sending")
	errNoReply = errors.New("the server did not answer")
	// A host that was hardly heard from gets less time, doubled with each attempt.
	errNotHeard = errors.New("the server, which was hardly heard from, did not answer in time; the next attempt " +
		"waits longer")
	errHurried = errors.New("the fetch took too long for a server that was hardly heard from; the next attempt may " +
		"take longer")
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
