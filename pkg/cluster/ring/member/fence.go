package member

import (
	"sync/atomic"
	"time"
)

// fence knows when the store has last heard of this session. It allows until two thirds of the timeout later: the store ends a session no
// earlier than its timeout after the last request that it has got. The last third is for clocks that run at different speeds, for
// the half tick that a follower of ZooKeeper may tell its leader late, and for what a caller does between asking and acting.
//
// It is safe for concurrent use, and asked before every lease: an atomic read and the clock.
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
