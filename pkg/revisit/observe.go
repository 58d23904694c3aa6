package revisit

import (
	"math"
	"time"
)

// Result is how a visit ended.
type Result uint8

// The results of visits. What a failure says of the page is nothing: neither that it changed nor that it did not.
const (
	// Seen is an answer with content, or the answer that it is the same as before: see Observation.Sum.
	Seen Result = iota
	// Same is the answer that nothing changed (304).
	Same
	// Missing is 404, Removed is 410.
	Missing
	Removed
	// Relocated is a permanent redirect (301, 308).
	Relocated
	// Forbidden is content that may not be kept (noindex), or a page that robots.txt closed.
	Forbidden
	// Failed is no answer, or one that blames the server (5xx, 429).
	Failed
)

// Observation is what a visit told.
type Observation struct {
	// Visit is the number of the visit, from 0; one that was observed changes nothing, so an observation may be told
	// twice.
	Visit  uint32
	At     time.Time
	Result Result
	// Sum identifies what the page says: its main text and its links, without what changes at each look.
	Sum uint64
	// LastModified is when the page changed last, where its host can be trusted to know; else zero.
	LastModified time.Time
	// Near reports that the content is almost what it was (two fingerprints with less than four bits between them).
	Near bool
	// NewLinks reports that the visit brought links that were not known.
	NewLinks bool
}

// Pages that change at this part of so many visits, in small ways, are soft.
const (
	softVisits = 8
	softPart   = .9
)

// Observe is the state of a page after a visit. prior is the belief about a page of its kind before its first
// observation; the zero Rate stands for [Unknown]. Its Due is still that of before: see [Next].
func Observe(s State, o Observation, prior Rate) State {
	if o.Visit < s.Visits {
		return s
	}
	s.Visits = o.Visit + 1
	switch o.Result {
	case Missing:
		s.Misses = addMisses(s.Misses, 1)
		return s
	case Removed:
		s.Misses = addMisses(s.Misses, 2)
		return s
	case Failed:
		return s
	case Forbidden:
		s.Withdrawn = true
		return s
	}
	s.Misses, s.Withdrawn, s.Gone, s.Moved = 0, false, false, o.Result == Relocated
	first := s.Last.IsZero() || s.Sum == 0 && o.Result == Seen // there is nothing to compare with
	at := o.At.Truncate(time.Second)
	days := at.Sub(s.Last).Hours() / 24
	s.Rate = s.Rate.Or(prior)
	if s.Weight == 0 {
		s.Weight = evenWeight
	}
	changed := !first && o.Result != Same && o.Sum != s.Sum
	if o.Result == Seen || o.Result == Relocated {
		s.Sum = o.Sum
	}
	s.Recent <<= 1
	if o.NewLinks {
		s.Recent |= 1
	}
	if s.Last = at; s.Listed() && !s.Signal.After(at) {
		s.Signal = at
	}
	if first || days <= 0 { // a clock that went back tells nothing
		return s
	}
	return s.learn(o, changed, days)
}

// learn takes in that the page had changed after so many days, or had not.
func (s State) learn(o Observation, changed bool, days float64) State {
	if changed && s.Changes < math.MaxUint16 {
		s.Changes++
	}
	s.Soft = s.Visits > softVisits && float64(s.Changes) >= softPart*float64(s.Visits-1)
	age := o.At.Sub(o.LastModified).Hours() / 24
	r := s.Rate.Aged()
	switch {
	case !changed || s.Soft && o.Near:
		s.Rate = r.Unchanged(days)
	case !o.LastModified.IsZero() && age >= 0 && age <= days:
		s.Rate = r.ChangedAgo(age)
	default:
		s.Rate = r.Changed(days)
	}
	return s
}

func addMisses(m, n uint8) uint8 { return uint8(min(int(m)+int(n), math.MaxUint8)) }

// Told is the state after a signal that the page changed at a time. One that is not after the last look is no news. A
// state of a page that was never seen stays as it is.
func (s State) Told(at time.Time) State {
	if at = at.Truncate(time.Second); !s.Last.IsZero() && at.After(s.Last) && at.After(s.Signal) {
		s.Signal = at
	}
	return s
}
