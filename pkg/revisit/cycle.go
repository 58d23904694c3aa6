package revisit

import (
	"math"
	"time"
)

// Cycle is at which hours of the day (UTC) the pages of a host change. Time that is measured by it runs fast at hours
// at which much changes, and a day has the length of a day. The zero value knows nothing: all hours are alike.
type Cycle struct {
	// Found are changes by the hour at which they may have happened; they fade.
	Found [24]float32
}

const (
	cycleMemory = 1 - 1./2000 // changes that are remembered
	cycleDoubt  = 48          // changes that an even day weighs
	// cycleSight is the longest interval, in days, of which something is learned: a longer one has all hours alike.
	cycleSight = .5
)

// Observe takes in that a page was found changed between two visits. So many visits look at each hour as the policy
// has it; the cycle has no count of those that found nothing, as even rounds of visits are what it needs to know.
func (c *Cycle) Observe(from, to time.Time, changed bool) {
	days := to.Sub(from).Hours() / 24
	if !changed || days <= 0 || days > cycleSight {
		return
	}
	for h := range c.Found {
		c.Found[h] *= cycleMemory
	}
	whole := c.Between(from, to)
	for t := from; t.Before(to); {
		next := hourAfter(t)
		if next.After(to) {
			next = to
		}
		c.Found[t.UTC().Hour()] += float32(next.Sub(t).Hours() / 24 * c.pace(t) / whole)
		t = next
	}
}

// pace is how fast time runs at a time, beside the mean of the day.
func (c *Cycle) pace(t time.Time) float64 {
	sum := float64(cycleDoubt)
	for _, n := range c.Found {
		sum += float64(n)
	}
	return (float64(c.Found[t.UTC().Hour()]) + cycleDoubt/24.) * 24 / sum
}

func hourAfter(t time.Time) time.Time { return t.Truncate(time.Hour).Add(time.Hour) }

// Between is the time between two times, in days as the cycle measures them.
func (c *Cycle) Between(from, to time.Time) float64 {
	days := math.Floor(to.Sub(from).Hours() / 24)
	sum := max(days, 0)
	for t := from.Add(time.Duration(sum) * 24 * time.Hour); t.Before(to); {
		next := hourAfter(t)
		if next.After(to) {
			next = to
		}
		sum += next.Sub(t).Hours() / 24 * c.pace(t)
		t = next
	}
	return sum
}

// After is how long it takes from a time until so many days, as the cycle measures them, have gone by.
func (c *Cycle) After(from time.Time, days float64) time.Duration {
	whole := math.Floor(days)
	d := time.Duration(whole) * 24 * time.Hour
	left := days - whole
	for t := from; left > 0; t = hourAfter(t) {
		pace := c.pace(t)
		hour := hourAfter(t).Sub(t)
		if part := hour.Hours() / 24 * pace; part < left {
			left -= part
			d += hour
			continue
		}
		return d + time.Duration(left*24/pace*float64(time.Hour))
	}
	return d
}
