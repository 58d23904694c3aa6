package frontier

import (
	"context"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// How often all pages are counted to find the thresholds: by the calendar, but no more than this part of the time.
const (
	levelEvery = 15 * time.Minute
	levelPart  = 50
	levelLeast = 100 * time.Millisecond
)

// level has the thresholds of a job found anew if it is time, and reports whether they were ever found.
func (dp *dispatcher) level(ctx context.Context, id crawl.JobID, a *again, now time.Time) bool {
	r := &dp.again
	a.mu.Lock()
	defer a.mu.Unlock()
	// often, as a crawl begins
	every := max(min(r.calendar.Real(levelEvery), now.Sub(a.began)/4), levelPart*a.took, levelLeast)
	if !a.levels && (a.levelled.IsZero() || now.Sub(a.levelled) >= every || now.Before(a.levelled) || a.moved) {
		moved := a.moved
		a.levels, a.moved = true, false
		r.running.Go(func() {
			if err := r.saveHabits(ctx, id, a, moved); err != nil && ctx.Err() == nil {
				dp.deps.Log.Warn("what was learned of hosts is not stored", "job", id, "error", err)
			}
			dp.census(ctx, id, a)
		})
	}
	return !a.levelled.IsZero()
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
	a.levels, a.levelled, a.took = false, time.Now(), time.Since(began)
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

func (v *visitCount) add(now time.Time, counts, changed bool) {
	if !counts {
		return
	}
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
