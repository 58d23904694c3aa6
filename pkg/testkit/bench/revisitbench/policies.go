package revisitbench

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// visit is what the crawl under test learns.
type visit struct {
	page           int
	first, changed bool
	last, now      float64 // in days
}

// policy is a way to choose intervals.
type policy interface {
	saw(v visit)
	// due is when a page that was last visited at a time is due, at a threshold of its host.
	due(page int, last, now, tau float64, longest time.Duration) float64
	// belief is what the policy believes of a page, for the thresholds; none where it has no thresholds.
	belief(page int) (revisit.Rate, bool)
	// told is called when a signal came.
	told(page int, at float64)
}

// even visits all pages at the same pace.
type even struct{ days float64 }

func (even) saw(visit)                           {}
func (even) told(int, float64)                   {}
func (even) belief(int) (r revisit.Rate, _ bool) { return r, false }
func (e even) due(_ int, last, _, _ float64, _ time.Duration) float64 {
	return last + e.days
}

// nutch is the rule of Nutch's AdaptiveFetchSchedule: the interval is multiplied by .8 after a change and by 1.4 after
// none.
type nutch struct {
	even
	days []float64
}

func newNutch(w *world) *nutch {
	n := &nutch{}
	for range w.pages {
		n.days = append(n.days, 1/w.Visits)
	}
	return n
}

func (n *nutch) saw(v visit) {
	if v.first {
		return
	}
	step := 1.4
	if v.changed {
		step = .8
	}
	n.days[v.page] = min(max(n.days[v.page]*step, 10./1440), 120)
}

func (n *nutch) due(i int, last, _, _ float64, _ time.Duration) float64 { return last + n.days[i] }

// certain is a belief that has its mean for true: the value of a visit is that at the mean.
func certain(rate float64) revisit.Rate { return revisit.Rate{A: 1e4, B: 1e4 / rate} }

// learner keeps a belief a page by a rule of its own, and visits by the threshold.
type learner struct {
	w    *world
	r    []revisit.Rate
	draw *rand.Rand
	// next is the belief after a visit, and use what of it the threshold is asked with.
	next func(l *learner, v visit) revisit.Rate
	use  func(l *learner, r revisit.Rate) revisit.Rate
	used []revisit.Rate
}

func newLearner(w *world, start func(p page) revisit.Rate, next func(*learner, visit) revisit.Rate,
	use func(*learner, revisit.Rate) revisit.Rate) *learner {
	l := &learner{w: w, next: next, use: use, draw: rand.New(rand.NewPCG(w.Seed, 7))}
	for _, p := range w.pages {
		r := start(p)
		l.r, l.used = append(l.r, r), append(l.used, use(l, r))
	}
	return l
}

func (l *learner) told(int, float64) {}

func (l *learner) saw(v visit) {
	if !v.first {
		l.r[v.page] = l.next(l, v)
		l.used[v.page] = l.use(l, l.r[v.page])
	}
}

func (l *learner) belief(i int) (revisit.Rate, bool) { return l.used[i], true }

func (l *learner) due(i int, last, _, tau float64, longest time.Duration) float64 {
	return last + min(l.used[i].Interval(l.w.pages[i].weight, tau), longest.Hours()/24)
}

func unknown(page) revisit.Rate { return revisit.Unknown() }

// bayes is the posterior without forgetting.
func bayes(l *learner, v visit) revisit.Rate {
	if v.changed {
		return l.r[v.page].Changed(v.now - v.last)
	}
	return l.r[v.page].Unchanged(v.now - v.last)
}

// fading is the posterior with forgetting, as revisit.Observe has it.
func fading(l *learner, v visit) revisit.Rate {
	l.r[v.page] = l.r[v.page].Aged()
	return bayes(l, v)
}

// naive counts visits that found a change, as if there had been one change each.
func naive(l *learner, v visit) revisit.Rate {
	r := l.r[v.page]
	if v.changed {
		r.A++
	}
	r.B += v.now - v.last
	return r
}

func itself(_ *learner, r revisit.Rate) revisit.Rate { return r }
func mean(_ *learner, r revisit.Rate) revisit.Rate   { return certain(r.Mean()) }

// thompson takes a rate that is drawn from the belief for true.
func thompson(l *learner, r revisit.Rate) revisit.Rate {
	return certain(max(gammaDraw(l.draw, r.A)/r.B, 1e-5))
}

// gammaDraw draws from Gamma(a, 1) (Marsaglia and Tsang 2000).
func gammaDraw(r *rand.Rand, a float64) float64 {
	if a < 1 {
		return gammaDraw(r, a+1) * math.Pow(r.Float64(), 1/a)
	}
	d := a - 1./3
	for {
		x := r.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		v = v * v * v
		if v > 0 && math.Log(r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
