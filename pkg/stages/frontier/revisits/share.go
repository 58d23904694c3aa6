package revisits

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

// count counts all pages of the job, and returns the share of the ration that is this node's, in [0, 1].
func (j *Job) count(ctx context.Context, c *revisit.Census) (share float64, err error) {
	store := j.book.cfg.Store
	shared, ok := store.(crawl.SharedRevisits)
	if !ok || j.book.cfg.Owns == nil {
		return 1, store.Each(ctx, j.id, func(k weburl.Key, s revisit.State) error {
			c.Add(uint64(hostOf(k)), &s)
			return nil
		})
	}
	own, all := 0., 0.
	err = shared.EachURL(ctx, j.id, func(p crawl.Revisit) error {
		h := hostOf(p.URL.Key())
		c.Add(uint64(h), &p.State)
		if p.Gone {
			return nil
		}
		j.mu.Lock()
		wanted := revisit.Wanted(p.State, j.policyOf(h))
		j.mu.Unlock()
		if all += wanted; j.book.cfg.Owns(p.URL) {
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
func (j *Job) setShare(share float64) {
	if j.share = share; j.plan.PerDay > 0 {
		j.ration.PerDay, j.ration.Burst = j.plan.PerDay*share, burst(j.plan.PerDay*share, j.calendar())
	}
}

// burstsPerDay: a quarter of an hour of a ration may be made good at once, and in any case what comes in burstTime of
// the clock, within which it may not be looked at: a calendar may be much faster than the clock.
const (
	burstsPerDay = 96
	burstTime    = lookMost
)

// burst is how many visits may be made good at once of so many a day of the calendar.
func burst(perDay float64, c revisit.Calendar) float64 {
	day := c.Real(24 * time.Hour)
	return max(perDay/burstsPerDay, perDay*burstTime.Seconds()/day.Seconds(), 1)
}
