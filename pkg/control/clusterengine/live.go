package clusterengine

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
)

// Live is the engine as the explorer asks it. What lies in the queues of the nodes, and what their frontiers do with
// hosts, it does not know: lists have the URLs and hosts that were asked for, and which of these are held.
type Live struct{ e *Engine }

var _ explore.Live = Live{}

// Live returns what the explorer asks.
func (e *Engine) Live() Live { return Live{e} }

// Queued implements explore.Live.
func (Live) Queued(context.Context, crawl.JobID, string, int) ([]crawl.Task, string, error) {
	return nil, "", nil
}

// InFlight implements explore.Live.
func (Live) InFlight(context.Context, crawl.JobID) ([]crawl.Task, error) { return nil, nil }

// Hosts implements explore.Live: the hosts that are held.
func (l Live) Hosts(ctx context.Context, _ crawl.JobID) (all []explore.HostNow, err error) {
	keys, err := l.e.Postgres.Guests().HeldHosts(ctx)
	for _, k := range keys {
		all = append(all, explore.HostNow{Key: k, Held: true, Why: "held", Text: "it is held: release it to continue"})
	}
	return all, err
}

// Counts implements explore.Live.
func (l Live) Counts(ctx context.Context, id crawl.JobID) (s explore.Sample, err error) {
	tally, err := l.e.Postgres.URLs().Tally(ctx, id)
	if err != nil {
		return s, err
	}
	s = explore.SampleOf(tally, l.e.now())
	s.Queued = openOf(tally)
	return s, nil
}
