package frontier

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// On a ring each node visits the pages of its own hosts, and all have one budget. Every node counts the pages of all,
// so that all find the same thresholds, and takes the part of the ration that its own pages want at them. Nothing has
// to be agreed on: where the ring changes, the parts follow with the next count.

// count counts all pages of a job, and returns the share of the ration that is this node's, in [0, 1].
func (dp *dispatcher) count(ctx context.Context, id crawl.JobID, a *again,
	c *revisit.Census) (share float64, err error) {
	shared, ok := dp.again.store.(crawl.SharedRevisits)
	if !ok || dp.deps.Ring == nil {
		return 1, dp.again.store.Each(ctx, id, func(k weburl.Key, s revisit.State) error {
			c.Add(uint64(hostOf(k)), &s)
			return nil
		})
	}
	own, all := 0., 0.
	err = shared.EachURL(ctx, id, func(p crawl.Revisit) error {
		h := hostOf(p.URL.Key())
		c.Add(uint64(h), &p.State)
		if p.Gone {
			return nil
		}
		a.mu.Lock()
		wanted := revisit.Wanted(p.State, a.policyOf(h))
		a.mu.Unlock()
		if all += wanted; dp.duties.owns(p.URL) {
			own += wanted
		}
		return nil
	})
	if all == 0 {
		return 0, err
	}
	return own / all, err
}

// setShare gives this node its part of the ration. mu is held.
func (a *again) setShare(share float64, c revisit.Calendar) {
	if a.share = share; a.plan.PerDay > 0 {
		a.ration.PerDay, a.ration.Burst = a.plan.PerDay*share, burst(a.plan.PerDay*share, c)
	}
}

// moved has the shares counted anew: the ring has changed.
func (r *revisits) moved() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.jobs {
		a.mu.Lock()
		a.moved = true
		a.mu.Unlock()
	}
}

// burstsPerDay: a quarter of an hour of a ration may be made good at once, and in any case what comes in burstTime of
// the clock, within which it may not be looked at: a calendar may be much faster than the clock.
const (
	burstsPerDay = 96
	burstTime    = dueLookMost
)

// burst is how many visits may be made good at once of so many a day of the calendar.
func burst(perDay float64, c revisit.Calendar) float64 {
	day := c.Real(24 * time.Hour)
	return max(perDay/burstsPerDay, perDay*burstTime.Seconds()/day.Seconds(), 1)
}
