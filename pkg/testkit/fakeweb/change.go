package fakeweb

import (
	"iter"
	"math"
	"time"
)

// When changing pages change, as [Config.ChangeHabit] counts it. The time between two changes is that of
// [Page.ChangeEvery]: always, or in the mean.
const (
	Evenly    = iota // after the same time each
	Randomly         // by chance, as a Poisson process
	InBursts         // at random, in busy times of ten days between quiet ones of forty, both in the mean
	WorkHours        // at random, in the same eight hours of each day, which differ between hosts
)

// Bursts: days of silence and of changes in the mean. The changes come so much faster that the mean is the page's.
const (
	quietDays, busyDays = 40., 10.
	burst               = (quietDays + busyDays) / busyDays
)

// period is the time between two changes of a changing page: a quarter to four times the configured median, or
// log-normally spread around it.
func (w *Web) period(r pageRef) time.Duration {
	u := unit(w.draw(purposeChange, r))
	times := math.Exp2(u*4 - 2)
	if w.cfg.ChangeSpread > 0 {
		times = math.Exp(w.cfg.ChangeSpread * math.Sqrt2 * math.Erfinv(min(max(2*u-1, -.9999), .9999)))
	}
	return max(time.Duration(float64(w.cfg.ChangeEvery)*times), time.Millisecond)
}

// version counts the changes of a page up to a moment after the web began; pages that do not change stay at 0.
func (w *Web) version(r pageRef, at time.Duration) (n uint64) {
	if w.class(r) != changing || at < 0 {
		return 0
	}
	if w.cfg.ChangeHabit == Evenly {
		return uint64(at / w.period(r))
	}
	for change := range w.changes(r) {
		if change > at {
			break
		}
		n++
	}
	return n
}

// changes are the moments after the web began at which a changing page changes, in order and without end.
func (w *Web) changes(r pageRef) iter.Seq[time.Duration] {
	days := w.period(r).Seconds() / w.day().Seconds()
	c := changer{s: stream(hash(w.cfg.Seed, purposeChange, uint64(r.host)<<40^uint64(r.p), 1)), days: days}
	c.opens = float64(r.host*7%24) / 24
	return func(yield func(time.Duration) bool) {
		for {
			c.step(w.cfg.ChangeHabit)
			if !yield(time.Duration(c.at * float64(w.day()))) {
				return
			}
		}
	}
}

func (w *Web) day() time.Duration {
	if w.cfg.Day > 0 {
		return w.cfg.Day
	}
	return 24 * time.Hour
}

// changer draws the changes of a page, in days.
type changer struct {
	s     stream
	days  float64 // between two changes, in the mean
	at    float64 // of the last one drawn
	busy  bool    // in a burst, or a quiet time, which ends at until
	until float64
	work  float64 // time at work so far, as if a day had nothing else
	opens float64 // when work begins, as a part of the day
}

// pause draws from the exponential distribution with mean 1.
func (c *changer) pause() float64 { return -math.Log(1 - c.s.unit()) }

// step moves on to the next change.
func (c *changer) step(habit int) {
	switch habit {
	case Randomly:
		c.at += c.pause() * c.days
	case InBursts:
		c.stepInBursts()
	case WorkHours:
		c.work += c.pause() * c.days
		day, part := math.Modf(c.work)
		c.at = day + c.opens + part*8/24
	default:
		c.at += c.days
	}
}

func (c *changer) stepInBursts() {
	for {
		if c.busy {
			if c.at += c.pause() * c.days / burst; c.at < c.until {
				return
			}
			c.busy, c.at = false, c.until
			c.until += c.pause() * quietDays
		}
		c.busy, c.at = true, c.until
		c.until += c.pause() * busyDays
	}
}
