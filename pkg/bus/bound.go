package bus

import (
	"sync"
	"sync/atomic"
)

// Bound is how many handlers of a topic may run at once, where that may change while they run. Its zero value is 0:
// none run.
type Bound struct {
	most    atomic.Int64
	mu      sync.Mutex
	changed chan struct{}
}

// MaxBound is the largest bound.
const MaxBound = 1024

// NewBound returns a bound of n.
func NewBound(n int) *Bound {
	b := &Bound{}
	b.Set(n)
	return b
}

// Set changes the bound, to 0 at least and MaxBound at most. Handlers that run go on.
func (b *Bound) Set(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n = min(max(n, 0), MaxBound)
	if b.most.Swap(int64(n)) == int64(n) {
		return
	}
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// Get returns the bound.
func (b *Bound) Get() int { return int(b.most.Load()) }

// Look returns the bound, and a channel that is closed when it changes.
func (b *Bound) Look() (int, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.Get(), b.changed
}
