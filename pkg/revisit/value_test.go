package revisit_test

import (
	"math"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
)

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if math.Abs(got-want) > rel*math.Abs(want) || math.IsNaN(got) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

// The worked example of Cho and Garcia-Molina: five pages that change 1 to 5 times a day, and five visits a day.
func TestFivePages(t *testing.T) {
	low, high := 1e-6, 10.
	perDay := func(tau float64) (sum float64) {
		for rate := 1.; rate <= 5; rate++ {
			sum += 1 / revisit.Interval(rate, 1, tau)
		}
		return sum
	}
	for range 100 {
		if mid := math.Sqrt(low * high); perDay(mid) > 5 {
			low = mid
		} else {
			high = mid
		}
	}
	for i, want := range []float64{1.150, 1.358, 1.354, 1.138, 0} {
		if got := 1 / revisit.Interval(float64(i+1), 1, low); math.Abs(got-want) > 5e-4 {
			t.Errorf("page %d is visited %.4f times a day, want %.3f", i+1, got, want)
		}
	}
}

func TestIntervalIsTheInverseOfValue(t *testing.T) {
	for rate := 1e-5; rate < 1e4; rate *= 3.7 {
		for x := 1e-5; x < 12; x *= 1.3 {
			days := x / rate
			near(t, "interval", revisit.Interval(rate, 2.5, revisit.Value(rate, 2.5, days)), days, 1e-9*math.Exp(x)/x+1e-9)
		}
	}
	if got := revisit.Interval(3, 1, .4); !math.IsInf(got, 1) {
		t.Errorf("a visit is never worth more than 1/3, and .4 is reached after %v days", got)
	}
}

func TestFresh(t *testing.T) {
	near(t, "freshness after one mean life", revisit.Fresh(2, .5), 1-1/math.E, 1e-12)
	if revisit.Fresh(0, 10) != 1 || revisit.Fresh(1, math.Inf(1)) != 0 {
		t.Error("a page that never changes is fresh, one that is never visited is not")
	}
}

// integrate is the mean of f over Gamma(a, b), by Simpson's rule in the logarithm of the rate.
func integrate(r revisit.Rate, f func(rate float64) float64) float64 {
	log, _ := math.Lgamma(r.A)
	const n, low, high = 8_000, -60., 12.
	h := (high - low) / n
	sum := 0.
	for i := range n + 1 {
		weight := 2.
		switch {
		case i == 0 || i == n:
			weight = 1
		case i%2 == 1:
			weight = 4
		}
		x := math.Exp(low + float64(i)*h)
		sum += weight * math.Exp(r.A*math.Log(r.B*x)-r.B*x-log) * f(x)
	}
	return sum * h / 3
}

func beliefs() (all []revisit.Rate) {
	for _, a := range []float64{.3, .5, .9, 1, 1.0001, 2, 7.5, 40} {
		for _, b := range []float64{.05, 1, 10, 300} {
			all = append(all, revisit.Rate{A: a, B: b})
		}
	}
	return all
}

func TestPosteriorAgainstIntegration(t *testing.T) {
	for _, r := range beliefs() {
		for _, w := range []float64{.01, .3, 3, 50, 400} {
			changed := func(x float64) float64 { return -math.Expm1(-x * w) }
			z := integrate(r, changed)
			m := integrate(r, func(x float64) float64 { return x * changed(x) }) / z
			s := integrate(r, func(x float64) float64 { return x * x * changed(x) }) / z
			got := r.Changed(w)
			near(t, "mean after a change", got.Mean(), m, 1e-5)
			near(t, "variance after a change", got.A/got.B/got.B, s-m*m, 1e-4)
			same := func(x float64) float64 { return math.Exp(-x * w) }
			near(t, "mean after no change", r.Unchanged(w).Mean(),
				integrate(r, func(x float64) float64 { return x * same(x) })/integrate(r, same), 1e-5)
		}
	}
}

func TestExpectedValueAgainstIntegration(t *testing.T) {
	for _, r := range beliefs() {
		for _, days := range []float64{1e-3, .1, 3, 40, 500} {
			want := integrate(r, func(x float64) float64 { return revisit.Value(x, 3, days) })
			got := r.Value(3, days)
			near(t, "expected value", got, want, 1e-4)
			if got > 1e-12 {
				again := r.Value(3, r.Interval(3, got))
				near(t, "value at the interval for it", again, got, 1e-6)
			}
		}
	}
	if got := (revisit.Rate{A: 1e5, B: 1e5}).Interval(1, .1); math.Abs(got-revisit.Interval(1, 1, .1)) > 1e-3 {
		t.Errorf("a belief that is certain wants %v days, the rate itself %v", got, revisit.Interval(1, 1, .1))
	}
}

// What is known last counts most, and what is believed does not run away, whatever is observed.
func TestBeliefsStayWithinBounds(t *testing.T) {
	for _, w := range []float64{0, -3, 1e-9, 1e-3, 1, 200, 1e5, math.Inf(1), math.NaN()} {
		for _, changed := range []bool{true, false} {
			r := revisit.Unknown()
			for range 2000 {
				if r = r.Aged(); changed {
					r = r.Changed(w)
				} else {
					r = r.Unchanged(w)
				}
				if !(r.A > 0 && r.B > 0 && r.A < 1e7 && r.B < 1e7) {
					t.Fatalf("changed %v after %v days: %+v", changed, w, r)
				}
			}
		}
	}
}

// The belief comes to the truth, at intervals for which counting changes is wrong by half and more.
func TestCensoredObservationsAreNotBiased(t *testing.T) {
	const rate, days = 1.5, 1.
	r := revisit.Unknown()
	for i := range 4000 {
		if math.Mod(float64(i)*math.Phi, 1) < -math.Expm1(-rate*days) {
			r = r.Changed(days)
		} else {
			r = r.Unchanged(days)
		}
	}
	near(t, "rate", r.Mean(), rate, .03)
}
