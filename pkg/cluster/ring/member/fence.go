package member

import (
	"sync/atomic"
	"time"
)

// fence knows when the store last heard from this session. It is down, and the node may act, until two thirds of the
// timeout later: the store ends a session no earlier than its timeout after the last request that it received. The last
// third covers clocks that run at different speeds, the half tick by which a follower of ZooKeeper may inform its
// leader late, and the time between asking the fence and acting.
//
// It is safe for concurrent use. It is asked before every lease, so it costs an atomic read and a look at the clock.
type fence struct {
	clock func() time.Duration
	until atomic.Int64 // on the clock; 0: fenced
}

// heard notes that a request sent at a time, by the clock, was answered.
func (f *fence) heard(sent, timeout time.Duration) {
	until := int64(sent + timeout*2/3)
	for {
		old := f.until.Load()
		if old == 0 || until <= old || f.until.CompareAndSwap(old, until) {
			return
		}
	}
}

// raise lets nothing through; lower begins with a request sent at a time.
func (f *fence) raise() { f.until.Store(0) }
func (f *fence) lower(sent, timeout time.Duration) {
	f.until.Store(max(int64(sent+timeout*2/3), 1))
}

// up reports whether nothing may pass.
func (f *fence) up() bool { return f.left() <= 0 }

// left is how long it stays down without another answer.
func (f *fence) left() time.Duration {
	until := f.until.Load()
	if until == 0 {
		return 0
	}
	return time.Duration(until) - f.clock()
}
