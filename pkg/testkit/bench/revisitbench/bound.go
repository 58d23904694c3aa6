package revisitbench

import (
	"math"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

// bound is the greatest freshness that any plan can reach that knows the rates, where changes come at random and
// nothing tells of them: each page at its own even pace, the value of all visits the same but on hosts at their cap
// (Cho and Garcia-Molina 2003; caps add a multiplier each). Of other habits it is a figure to compare with, and no
// bound.
func (w *world) bound() float64 {
	byHost := w.byHost()
	perDay := func(h int, tau float64) (sum float64) {
		for _, i := range byHost[h] {
			sum += 1 / revisit.Interval(w.pages[i].rate, w.pages[i].weight, tau)
		}
		return sum
	}
	own := make([]float64, len(byHost))
	for h := range own {
		if !math.IsInf(w.caps[h], 1) {
			own[h] = bisect(func(tau float64) float64 { return perDay(h, tau) }, w.caps[h])
		}
	}
	tau := bisect(func(tau float64) (sum float64) {
		for h := range own {
			sum += perDay(h, max(tau, own[h]))
		}
		return sum
	}, w.budget)
	fresh, all := 0., 0.
	for _, p := range w.pages {
		fresh += p.weight * revisit.Fresh(p.rate, revisit.Interval(p.rate, p.weight, max(tau, own[p.host])))
		all += p.weight
	}
	return fresh / all
}

// bisect finds where a falling function is want.
func bisect(f func(float64) float64, want float64) float64 {
	low, high := 1e-6, 1e6
	for range 50 {
		if mid := math.Sqrt(low * high); f(mid) > want {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Sqrt(low * high)
}
