package revisit

import (
	"math"
	"time"
)

// Policy is what a host's pages are scheduled by. Its values are to be had from [Default].
type Policy struct {
	// Tau is the threshold of the host, in days of freshness times weight that a visit must be worth: [Host.Tau].
	Tau float64
	// Least and Most bound the time between visits. Nothing is more certain than Most: rates are believed, not known.
	Least, Most time.Duration
	// GoneAt is how many misses in a row mean that a page is gone.
	GoneAt uint8
	// Cost is what a visit costs beside a usual one: .3 where the host answers conditional requests. 0 stands for 1.
	Cost float64
	// Signals is how far signals of the host can be trusted; nil where it gives none.
	Signals *Signals
	// Cycle is at what hours the host's pages change; nil where that is not known.
	Cycle *Cycle
}

// Default is a policy without a threshold: ten minutes at least and 120 days at most, gone after three misses.
func Default() Policy {
	return Policy{Least: 10 * time.Minute, Most: 120 * 24 * time.Hour, GoneAt: 3}
}

// withdrawnFor is when a page that may not be kept is looked at again.
const withdrawnFor = 30 * 24 * time.Hour

// Priorities of visits, the higher the sooner. Those of new URLs are 1 and 2.
const (
	PriorityPlain  = 3
	PriorityYields = 4 // recent visits brought new links
	PriorityHead   = 5 // a seed, a sitemap or a feed
)

// Next says when a page is due, from now on, and with what priority. The time is zero where the page is gone: it is
// not visited again, until a link to it is found. A page that failed is due as its belief says; when it is tried again
// is for the retries to say.
func Next(s State, p Policy, now time.Time) (due time.Time, priority uint8) {
	priority = PriorityPlain
	switch {
	case s.Kind != Plain:
		priority = PriorityHead
	case s.Yields():
		priority = PriorityYields
	}
	switch {
	case s.IsGone(p):
		return time.Time{}, priority
	case s.Misses > 0: // 1, 3, 9 … days
		return now.Add(min(24*time.Hour*time.Duration(math.Pow(3, float64(min(s.Misses, 5)-1))), withdrawnFor)), priority
	case s.Withdrawn:
		return now.Add(withdrawnFor), priority
	case s.Last.IsZero():
		return now, priority
	}
	last := s.Last
	if last.After(now) { // the clock went back
		last = now
	}
	due = last.Add(s.wait(p, last, now))
	if least := last.Add(p.Least); due.Before(least) {
		due = least
	}
	return due, priority
}

// Wanted is how many visits a day a page wants, a thousand at most, without regard to its misses and its signals.
func Wanted(s State, p Policy) float64 {
	return 1 / min(max(s.Rate.Or(Unknown()).Interval(s.weight(), p.Tau), 1e-3), max(p.Most.Hours()/24, 1e-3))
}

// IsGone reports whether the page was missing so often that it is not visited any more.
func (s State) IsGone(p Policy) bool { return s.Gone || p.GoneAt > 0 && s.Misses >= p.GoneAt }

// wait is how long after its last visit the page is worth the next one.
func (s State) wait(p Policy, last, now time.Time) time.Duration {
	r, w, tau, most := s.Rate.Or(Unknown()), s.weight(), p.Tau, p.Most.Hours()/24
	if p.Cost > 0 {
		tau *= p.Cost
	}
	told := time.Duration(math.MaxInt64)
	if p.Signals != nil && s.Listed() {
		precision, recall := p.Signals.Precision(), p.Signals.Recall()
		if s.IsTold() {
			// Changed with this probability, and then a visit is worth all that a visit can be.
			tau = (tau - precision*r.Value(w, most)) / (1 - precision)
			told = max(min(s.Signal.Sub(s.Last), now.Sub(last)), 0)
		}
		r.B /= 1 - recall // changes that a signal would have told of did not happen
	}
	days := min(r.Interval(w, tau), most)
	if days <= 0 {
		return told
	}
	d := time.Duration(days * float64(24*time.Hour))
	if span := min(d/2, 12*time.Hour).Truncate(time.Hour); p.Cycle != nil && days > cycleFrom && days < cycleReach {
		return max(p.Cycle.Best(last.Add(d), r.Mean(), d, span).Sub(last), 0)
	}
	return d
}
