package crawl

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Freshness is how fresh a continuous job's pages are, and how they are visited. Times and days are those of the
// calendar by which pages are visited again.
type Freshness struct {
	At time.Time `json:"at"` // when the pages were counted
	// Fresh is the expected part of the pages, by weight, that are what the Web says now, in [0, 1].
	Fresh float64 `json:"fresh"`
	// Kept are pages that are visited again, Gone those that are not there any more, Withdrawn those that may not be kept;
	// UnderWay are those whose visit is queued or made now.
	Kept      int64 `json:"kept"`
	Gone      int64 `json:"gone"`
	Withdrawn int64 `json:"withdrawn,omitempty"`
	UnderWay  int64 `json:"under_way"`
	// Visits counts the visits after the first, of all pages together, and Changed those that found a page changed.
	Visits  int64 `json:"visits"`
	Changed int64 `json:"changed"`
	// Budget is how many revisits a day there are, and Wanted how many pages would have at the threshold Tau, in days of
	// freshness times weight that a visit must be worth.
	Budget float64 `json:"budget"`
	Wanted float64 `json:"wanted"`
	Tau    float64 `json:"threshold"`
	// Longest is the longest interval between two visits of a page.
	Longest Duration `json:"longest"`
	// LastDay and ChangedLastDay count the visits of the last day, or since the process began.
	LastDay        int64 `json:"last_day"`
	ChangedLastDay int64 `json:"changed_last_day"`
	// DueNow is how many pages are due, and Late for how long the first of them has been.
	DueNow int64    `json:"due_now"`
	Late   Duration `json:"late"`
	// Capped are the hosts that allow less than their pages want.
	Capped int `json:"capped_hosts"`
}

// ChangedPart is the part of the revisits that found a page changed, in [0, 1].
func (f *Freshness) ChangedPart() float64 {
	if f.Visits == 0 {
		return 0
	}
	return float64(f.Changed) / float64(f.Visits)
}

// FreshnessOf makes the figures of a job of what was counted of its pages. capped is how many hosts allow less than
// their pages want.
func FreshnessOf(c *revisit.Census, plan *revisit.Plan, capped int, now time.Time) Freshness {
	return Freshness{At: now, Fresh: c.Fresh(), Kept: c.Kept, Gone: c.Gone, Withdrawn: c.Withdrawn, UnderWay: c.UnderWay,
		Visits: c.Visits, Changed: c.Changed, Budget: plan.PerDay, Wanted: c.Wanted, Tau: plan.Tau(),
		Longest: Duration(plan.Longest()), DueNow: c.DueNow, Late: Duration(c.Late), Capped: capped}
}

// revisitShare is the part of a host's turns that revisits may have.
const revisitShare = .8

// NewCensus begins to count the pages of a job that does not run. Hosts allow what the job's own delay lets them.
func NewCensus(job *Job, now time.Time) (*revisit.Plan, *revisit.Census) {
	set := job.Revisit.Filled()
	plan := &revisit.Plan{PerDay: float64(set.Budget), Most: set.MaxAge.D()}
	perDay := revisit.HostPerDay(job.Politeness.Delay.D(), 0, 0, revisitShare)
	return plan, revisit.NewCensus(now, plan, func(uint64) float64 { return perDay })
}

// CountFreshness counts the pages of a continuous job that does not run. Hosts allow what the job's own delay lets
// them.
func CountFreshness(ctx context.Context, r Revisits, job *Job, now time.Time) (Freshness, error) {
	plan, c := NewCensus(job, now)
	err := r.Each(ctx, job.ID, func(k weburl.Key, s revisit.State) error {
		c.Add(binary.BigEndian.Uint64(k[:]), &s)
		return nil
	})
	if err != nil {
		return Freshness{}, err
	}
	capped := c.Level()
	return FreshnessOf(c, plan, len(capped), now), nil
}
