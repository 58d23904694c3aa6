package revisit

import (
	"math"
	"time"
)

// Cycle is at which hours of the day (UTC) the pages of a host change. The zero value knows nothing: all hours are
// alike.
type Cycle struct {
	// Found are changes by the hour at which they may have happened; they fade.
	Found [24]float32
}

const (
	cycleMemory = 1 - 1./2000 // changes that are remembered
	cycleDoubt  = 24          // changes that an even day weighs
	// cycleSight is the longest interval, in days, of which something is learned: a whole day has all hours alike.
	cycleSight = .9
	// Intervals, in days, that are worth to be moved by hours: a visit to shorter ones must be in the midst of the
	// changes, and longer ones lose nothing by an hour.
	cycleFrom, cycleReach = .4, 5
	// cycleGain is what a move must win, or it is noise that moves visits.
	cycleGain = 1.05
)

// Observe takes in that a page was found changed between two visits, or not. The change counts for each hour between
// them as the cycle has it so far.
func (c *Cycle) Observe(from, to time.Time, changed bool) {
	if days := to.Sub(from).Hours() / 24; !changed || days <= 0 || days > cycleSight {
		return
	}
	var part [24]float64
	pace, sum := c.paces(), 0.
	for t := from; t.Before(to); {
		next := t.Truncate(time.Hour).Add(time.Hour)
		if next.After(to) {
			next = to
		}
		h := t.UTC().Hour()
		share := next.Sub(t).Hours() * pace[h]
		part[h] += share
		sum += share
		t = next
	}
	for h := range c.Found {
		c.Found[h] = float32(float64(c.Found[h])*cycleMemory + part[h]/sum)
	}
}

// known reports whether enough changes were seen to move visits by them.
func (c *Cycle) known() bool {
	sum := float32(0)
	for _, n := range c.Found {
		sum += n
	}
	return sum >= cycleDoubt
}

// paces is how much changes at each hour, beside the mean of the day.
func (c *Cycle) paces() (pace [24]float64) {
	sum := float64(cycleDoubt)
	for _, n := range c.Found {
		sum += float64(n)
	}
	for h, n := range c.Found {
		pace[h] = (float64(n) + cycleDoubt/24.) * 24 / sum
	}
	return pace
}

// Best is the time around a due time, at most span before or after it, at which a visit keeps a page of a rate (changes
// a day) fresh for the longest part of an interval: after the hours at which it changes, not before them. The least
// move wins where hours are alike.
func (c *Cycle) Best(due time.Time, rate float64, interval, span time.Duration) time.Time {
	pace, hour := c.paces(), due.UTC().Hour()
	steps := int(min(interval, 24*time.Hour) / time.Hour)
	value := func(shift int) (fresh float64) {
		lost := 0.
		for h := range steps {
			lost += pace[((hour+shift+h)%24+24)%24] / 24
			fresh += math.Exp(-rate * lost)
		}
		return fresh
	}
	best, most := 0, value(0)*cycleGain
	for shift := 1; shift <= int(span/time.Hour); shift++ {
		for _, s := range []int{shift, -shift} {
			if v := value(s); v > most {
				best, most = s, v
			}
		}
	}
	return due.Add(time.Duration(best) * time.Hour)
}
