package fetcher

import (
	"context"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// inFlight are the leases that are being fetched. A bus may deliver a lease again while its request is in flight. The
// second delivery must not make the request, and must not report an end before the first has ended.
type inFlight struct {
	mu    sync.Mutex
	ended map[lease]chan struct{} // closed when the fetch has ended
}

type lease struct {
	task   crawl.MessageID
	number int64
}

func newInFlight() *inFlight { return &inFlight{ended: map[lease]chan struct{}{}} }

// take marks a lease as in flight until release is called. If it is in flight already, take waits for the end of that
// fetch and returns again = true.
func (f *inFlight) take(ctx context.Context, t *crawl.Task) (release func(), again bool, err error) {
	l := lease{t.ID(), t.Lease}
	for {
		f.mu.Lock()
		other := f.ended[l]
		if other == nil {
			mine := make(chan struct{})
			f.ended[l] = mine
			f.mu.Unlock()
			return func() { f.drop(l, mine) }, again, nil
		}
		f.mu.Unlock()
		again = true
		select {
		case <-other:
		case <-ctx.Done():
			return nil, again, context.Cause(ctx)
		}
	}
}

func (f *inFlight) drop(l lease, mine chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ended, l)
	close(mine)
}
