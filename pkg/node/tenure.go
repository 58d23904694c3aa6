package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

// errFenced ends a request that this node has no right to any more.
var errFenced = errors.New("this node's place in the ring is not certain any more")

// tenure makes requests only while the node's registration, under which they were leased, stands: the others take over
// its hosts when it is gone.
type tenure struct {
	fetcher pipeline.Handler[*crawl.Fetch]
	// alive returns the node's registration; false where it is gone, or where this program has not heard of it for so
	// long that it may be.
	alive func() (incarnation uint64, ok bool)

	mu          sync.Mutex
	incarnation uint64
	ctx         context.Context // done when the tenure is over
	end         context.CancelCauseFunc
}

func newTenure(h pipeline.Handler[*crawl.Fetch], alive func() (uint64, bool)) *tenure {
	t := &tenure{fetcher: h, alive: alive, end: func(error) {}}
	return t
}

// run ends the requests of a tenure that is over, until ctx is done. changed tells of changes of what alive says.
func (t *tenure) run(ctx context.Context, changed <-chan struct{}) {
	const look = time.Second // changed is enough; this is for a change that got lost
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		t.look()
		select {
		case <-changed:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look returns the context of the present tenure; nil: there is none.
func (t *tenure) look() (context.Context, uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, ok := t.alive()
	if !ok {
		now = 0
	}
	if now != t.incarnation {
		t.end(errFenced)
		t.incarnation, t.ctx, t.end = now, nil, func(error) {}
		if now != 0 {
			t.ctx, t.end = context.WithCancelCause(context.Background())
		}
	}
	return t.ctx, t.incarnation
}

// Handle implements pipeline.Handler. A lease of another registration is not fetched: its outcome is interrupted, as
// that of a request that is ended on the way.
func (t *tenure) Handle(ctx context.Context, f *crawl.Fetch) ([]crawl.Event, error) {
	held, now := t.look()
	if held == nil || now != f.Tenure {
		return []crawl.Event{interrupted(f, "it was leased under a registration in the ring that is over", false)}, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(held, func() { cancel(errFenced) })() //nolint:contextcheck // held ends ctx
	out, err := t.fetcher.Handle(ctx, f)
	if err != nil && errors.Is(context.Cause(ctx), errFenced) {
		return []crawl.Event{interrupted(f, errFenced.Error(), true)}, nil
	}
	return out, err
}

func interrupted(f *crawl.Fetch, why string, contacted bool) *crawl.Outcome {
	now := time.Now()
	out := &crawl.Outcome{Task: f.Task, Verdict: crawl.VerdictInterrupted, Reason: crawl.ReasonInterrupted, Detail: why,
		Started: now}
	if contacted {
		out.Ended = now
	}
	return out
}
