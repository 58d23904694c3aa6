package frontier

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// All pages of a job are counted every censusEvery of the calendar, to find the thresholds of its revisits. At least
// censusLeast and censusShare times what the last census took lie between two.
const (
	censusEvery = 15 * time.Minute
	censusShare = 50
	censusLeast = 100 * time.Millisecond
)

// censusTaken begins a census of a job's pages if it is time, and reports whether one has ended before.
func (dp *dispatcher) censusTaken(ctx context.Context, id crawl.JobID, a *again, now time.Time) bool {
	r := &dp.again
	a.mu.Lock()
	defer a.mu.Unlock()
	// more often in a young crawl: whenever a quarter of its age has passed
	every := max(min(r.calendar.Real(censusEvery), now.Sub(a.began)/4), censusShare*a.took, censusLeast)
	if !a.counting && (a.counted.IsZero() || now.Sub(a.counted) >= every || now.Before(a.counted) || a.moved) {
		moved := a.moved
		a.counting, a.moved = true, false
		r.running.Go(func() {
			if err := r.saveHabits(ctx, id, a, moved); err != nil && ctx.Err() == nil {
				dp.deps.Log.Warn("what was learned of hosts is not stored", "job", id, "error", err)
			}
			dp.census(ctx, id, a)
		})
	}
	return !a.counted.IsZero()
}

// census counts all pages of a job, and finds the thresholds.
func (dp *dispatcher) census(ctx context.Context, id crawl.JobID, a *again) {
	r, began := &dp.again, time.Now()
	a.mu.Lock()
	plan := a.plan
	a.mu.Unlock()
	c := revisit.NewCensus(r.now(), &plan, func(host uint64) float64 {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.cap(hostID(host), r.calendar).PerDay
	})
	c.Expect(a.recall)
	share, err := dp.count(ctx, id, a, c)
	if err != nil && ctx.Err() == nil {
		dp.deps.Log.Warn("the thresholds of revisits stay as they are", "job", id, "error", err)
	}
	capped := c.Level()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counting, a.counted, a.took = false, time.Now(), time.Since(began)
	if err != nil {
		return
	}
	if plan.PerDay == a.plan.PerDay && plan.Most == a.plan.Most { // the job was not revised meanwhile
		a.plan = plan
	}
	a.setShare(share, r.calendar)
	a.repeated = c.Repeated
	clear(a.hosts)
	for h, host := range capped {
		a.hosts[hostID(h)] = host
	}
	a.figuresOf(c, crawl.FreshnessOf(c, &a.plan, len(a.hosts), r.now()))
	dp.signal()
}

// visitCount counts the visits of the last day, by the hour.
type visitCount struct {
	hours [24]struct {
		hour            int64
		visits, changed int64
	}
}

func (v *visitCount) add(now time.Time, changed bool) {
	hour := now.Unix() / 3600
	at := &v.hours[((hour%24)+24)%24]
	if at.hour != hour {
		at.hour, at.visits, at.changed = hour, 0, 0
	}
	at.visits++
	if changed {
		at.changed++
	}
}

func (v *visitCount) lastDay(now time.Time) (visits, changed int64) {
	hour := now.Unix() / 3600
	for i := range v.hours {
		if at := &v.hours[i]; at.hour > hour-24 && at.hour <= hour {
			visits, changed = visits+at.visits, changed+at.changed
		}
	}
	return visits, changed
}
