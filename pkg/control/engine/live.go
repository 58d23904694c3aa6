package engine

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
)

// Live is the engine as the explorer asks it.
type Live struct{ e *Engine }

var _ explore.Live = Live{}

// Live returns what the explorer asks.
func (e *Engine) Live() Live { return Live{e} }

// Queued implements explore.Live.
func (l Live) Queued(ctx context.Context, id crawl.JobID, after string, limit int) ([]crawl.Task, string, error) {
	return l.e.Queued(ctx, id, after, limit)
}

// InFlight implements explore.Live.
func (l Live) InFlight(_ context.Context, id crawl.JobID) ([]crawl.Task, error) {
	return l.e.InFlight(id), nil
}

// Hosts implements explore.Live.
func (l Live) Hosts(_ context.Context, id crawl.JobID) ([]explore.HostNow, error) {
	all := l.e.Hosts(id)
	out := make([]explore.HostNow, len(all))
	for i := range all {
		h := &all[i]
		out[i] = explore.HostNow{Key: h.Key, Queued: h.Queued, InFlight: h.InFlight, Held: h.Held, Next: h.Next,
			Why: string(h.Why), Text: h.Text, Until: h.Next, Backoff: h.Backoff, Robots: h.Robots, Address: h.Address}
	}
	return out, nil
}

// Counts implements explore.Live. Bytes are those since the process began.
func (l Live) Counts(ctx context.Context, id crawl.JobID) (s explore.Sample, err error) {
	tally, err := l.e.Store().URLs().Tally(ctx, id)
	if err != nil {
		return s, err
	}
	state, known, err := l.e.State(ctx, id)
	if err != nil || !known {
		return s, err
	}
	s = explore.SampleOf(tally, time.Now())
	s.Queued, s.InFlight = state.Queued, int64(state.InFlight)
	s.Waiting = int64(l.e.CountHosts(id).Waiting)
	s.Bytes = l.e.Bytes(id)
	return s, nil
}
