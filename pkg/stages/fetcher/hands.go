package fetcher

import (
	"context"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// hands are the leases in hand. A bus may bring a lease a second time while its request is under way: the second must neither make
// the request nor say that it is over.
type hands struct {
	mu    sync.Mutex
	ended map[lease]chan struct{} // closed when the lease is out of hand
}

type lease struct {
	task   crawl.MessageID
	number int64
}

func newHands() *hands { return &hands{ended: map[lease]chan struct{}{}} }

// take takes a lease in hand until release is called; where it is already, when that has ended: then again is true.
func (h *hands) take(ctx context.Context, t *crawl.Task) (release func(), again bool, err error) {
	l := lease{t.ID(), t.Lease}
	for {
		h.mu.Lock()
		other := h.ended[l]
		if other == nil {
			mine := make(chan struct{})
			h.ended[l] = mine
			h.mu.Unlock()
			return func() { h.drop(l, mine) }, again, nil
		}
		h.mu.Unlock()
		again = true
		select {
		case <-other:
		case <-ctx.Done():
			return nil, again, context.Cause(ctx)
		}
	}
}

func (h *hands) drop(l lease, mine chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ended, l)
	close(mine)
}
