package revisitbench

import (
	"math"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// start is the first instant of a simulation.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func instant(day float64) time.Time { return start.Add(time.Duration(day * 24 * float64(time.Hour))) }
func day(t time.Time) float64       { return t.Sub(start).Hours() / 24 }

// ours is the policy of pkg/revisit, by its states.
type ours struct {
	w       *world
	s       []revisit.State
	prior   []revisit.Pool    // by host; nil: one prior for all
	signals []revisit.Signals // by host; nil: not used
	cycles  []revisit.Cycle   // by host; nil: not used
}

func newOurs(w *world, priors, signals, cycles bool) *ours {
	o := &ours{w: w, s: make([]revisit.State, len(w.pages))}
	for i, p := range w.pages {
		o.s[i].Weight = revisit.WeightOctet(p.weight)
	}
	if priors {
		o.prior = make([]revisit.Pool, len(w.caps))
	}
	if signals {
		o.signals = make([]revisit.Signals, len(w.caps))
	}
	if cycles {
		o.cycles = make([]revisit.Cycle, len(w.caps))
	}
	return o
}

func (o *ours) saw(v visit) {
	s, h := &o.s[v.page], o.w.pages[v.page].host
	seen := revisit.Observation{Visit: s.Visits, At: instant(v.now), Sum: max(s.Sum, 1)}
	if v.changed {
		seen.Sum++
	}
	if o.cycles != nil && !v.first {
		o.cycles[h].Observe(s.Last, seen.At, v.changed)
	}
	if o.signals != nil && !v.first && s.Listed() {
		o.signals[h] = o.signals[h].Observe(s.IsTold(), v.changed)
	}
	if o.prior == nil || v.first {
		*s = revisit.Observe(*s, seen, revisit.Rate{})
		return
	}
	before := s.Rate
	if s.Visits == 1 { // nothing was learned yet: what its host taught meanwhile counts
		s.Rate, before = o.prior[h].Prior(revisit.Unknown()), revisit.Rate{}
	}
	*s = revisit.Observe(*s, seen, revisit.Rate{})
	o.prior[h] = o.prior[h].Learn(before, s.Rate)
}

func (o *ours) told(i int, at float64) { o.s[i] = o.s[i].Told(instant(at)) }

func (o *ours) belief(i int) (revisit.Rate, bool) {
	r := o.s[i].Rate.Or(revisit.Unknown())
	if o.signals != nil && o.s[i].Listed() {
		r.B /= 1 - o.signals[o.w.pages[i].host].Recall()
	}
	return r, true
}

func (o *ours) due(i int, _, now, tau float64, longest time.Duration) float64 {
	p := revisit.Default()
	p.Tau, p.Most = tau, longest
	h := o.w.pages[i].host
	if o.signals != nil {
		p.Signals = &o.signals[h]
	}
	if o.cycles != nil {
		p.Cycle = &o.cycles[h]
	}
	due, _ := revisit.Next(o.s[i], p, instant(now))
	if due.IsZero() {
		return math.Inf(1)
	}
	return day(due)
}
