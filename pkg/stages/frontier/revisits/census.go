package revisits

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

// counts begins a census of the job's pages if it is time, and reports whether one has ended before.
func (j *Job) counts(ctx context.Context, now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	// more often in a young crawl: whenever a quarter of its age has passed
	every := max(min(j.calendar().Real(censusEvery), now.Sub(j.began)/4), censusShare*j.took, censusLeast)
	if !j.counting && (j.counted.IsZero() || now.Sub(j.counted) >= every || now.Before(j.counted) || j.moved) {
		moved := j.moved
		j.counting, j.moved = true, false
		j.book.running.Go(func() {
			if err := j.saveHabits(ctx, moved); err != nil && ctx.Err() == nil {
				j.book.cfg.Log.Warn("what was learned of hosts is not stored", "job", j.id, "error", err)
			}
			j.census(ctx)
		})
	}
	return !j.counted.IsZero()
}

// census counts all pages of the job, and finds the thresholds.
func (j *Job) census(ctx context.Context) {
	began := time.Now()
	j.mu.Lock()
	plan := j.plan
	j.mu.Unlock()
	c := revisit.NewCensus(j.book.Now(), &plan, func(host uint64) float64 {
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.cap(hostID(host)).PerDay
	})
	c.Expect(j.recall)
	share, err := j.count(ctx, c)
	if err != nil && ctx.Err() == nil {
		j.book.cfg.Log.Warn("the thresholds of revisits stay as they are", "job", j.id, "error", err)
	}
	capped := c.Level()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counting, j.counted, j.took = false, time.Now(), time.Since(began)
	if err != nil {
		return
	}
	if plan.PerDay == j.plan.PerDay && plan.Most == j.plan.Most { // the job was not revised meanwhile
		j.plan = plan
	}
	j.setShare(share)
	j.repeated = c.Repeated
	clear(j.hosts)
	for h, host := range capped {
		j.hosts[hostID(h)] = host
	}
	j.figuresOf(c, crawl.FreshnessOf(c, &j.plan, len(j.hosts), j.book.Now()))
	j.book.cfg.Wake()
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
