package revisit

import "math"

// The prior of a page that nothing is known of has half a change in ten days: a mean of one in twenty days, and a
// spread so wide (two thirds of it over four orders of magnitude) that three visits outweigh it.
const (
	priorA = .5
	priorB = 10.
	// memory is what an observation keeps of those before it: they fade by thirds in about 13 visits.
	memory = .97
	// faintest is the least shape that forgetting leaves: less would make each page new again.
	faintest = .3
	// bounds of the posterior: rates of one change in 300 years to 10^5 a day stay apart, and a float32 holds them.
	leastA, mostA = 1e-3, 1e6
	leastB, mostB = 1e-4, 1e6
)

// Rate is what is believed of how often a page changes: a Gamma distribution of its changes a day, with shape A and
// rate B (days). The zero value is no belief; see [Rate.Or].
type Rate struct{ A, B float64 }

// Unknown is the belief about a page of which nothing is known.
func Unknown() Rate { return Rate{A: priorA, B: priorB} }

// Known reports whether r is a belief at all.
func (r Rate) Known() bool { return r.A > 0 && r.B > 0 }

// Or returns r, or prior where r is no belief, or [Unknown] where neither is.
func (r Rate) Or(prior Rate) Rate {
	switch {
	case r.Known():
		return r
	case prior.Known():
		return prior
	}
	return Unknown()
}

// Mean is the expected number of changes a day.
func (r Rate) Mean() float64 { return r.A / r.B }

// Unchanged is the belief after a visit that found the page as it was days before. It is exact.
func (r Rate) Unchanged(days float64) Rate {
	return Rate{r.A, r.B + math.Max(days, 0)}.bounded()
}

// Changed is the belief after a visit that found the page changed since days before, once or more often: the number is
// censored. The likelihood 1 − e^(−λ·days) leaves the family of Gamma distributions; the mean and the variance of the
// posterior are exact, and of its shape no more is kept.
func (r Rate) Changed(days float64) Rate {
	if days <= 0 {
		return r.bounded()
	}
	a, b := r.A, r.B
	l := math.Log1p(days / b)
	none := math.Exp(-a * l) // P(no change)
	some := -math.Expm1(-a * l)
	if some < 1e-9 {
		return Rate{a + 1, b + days/2}.bounded() // one change, at a time that is not known
	}
	// shrink(k) is 1 − (b/(b+w))^(a+k): how much the k-th moment loses by what is ruled out.
	shrink := func(k float64) float64 { return -math.Expm1(-(a + k) * l) }
	mean := a / b * shrink(1) / some
	square := a * (a + 1) / (b * b) * shrink(2) / some
	variance := square - mean*mean
	if variance <= 1e-12*square || math.IsNaN(variance) || none >= 1 {
		return Rate{a + 1, b + days/2}.bounded()
	}
	return Rate{mean * mean / variance, mean / variance}.bounded()
}

// ChangedAgo is the belief after a visit that found the page changed and learned that its last change was age days
// before, from a Last-Modified that can be trusted: one change, and none since. What came before it is not used. It is
// exact (the improved estimator of Cho and Garcia-Molina, "Estimating frequency of change", TOIT 3, 2003).
func (r Rate) ChangedAgo(age float64) Rate {
	return Rate{r.A + 1, r.B + math.Max(age, 0)}.bounded()
}

// Aged is the belief with its evidence weakened, as before each observation: pages change their habits. The mean stays.
func (r Rate) Aged() Rate {
	if r.A <= faintest {
		return r
	}
	n := math.Max(memory*r.A, faintest) / r.A
	return Rate{n * r.A, n * r.B}.bounded()
}

// bounded keeps the belief where the formulas hold; what is not a number becomes no belief.
func (r Rate) bounded() Rate {
	if math.IsNaN(r.A) || math.IsNaN(r.B) {
		return Unknown()
	}
	return Rate{math.Min(math.Max(r.A, leastA), mostA), math.Min(math.Max(r.B, leastB), mostB)}
}

// Value is the expected [Value] of a visit under the belief: the mean over all rates that the page may have, and not
// that of the mean rate. A page of which little is known is worth a look after a long time, however fast it seemed:
// what seemed fast may be slow. With u = days/B it is
//
//	weight·B · ((1 − (1+u)^(1−A))/(A−1) − u·(1+u)^(−A))
//
// and for A ≤ 1 it grows without bound. It is the derivative of the expected freshness by the visits a day.
func (r Rate) Value(weight, days float64) float64 {
	if days <= 0 || weight <= 0 {
		return 0
	}
	return weight * r.B * expected(r.A, days/r.B)
}

// expected is E[(1 − e^(−λu)(1+λu))/λ] for λ ~ Gamma(a, 1).
func expected(a, u float64) float64 {
	if (a+2)*u < 1e-3 {
		return a * u * u * (.5 - (a+1)*u*(1.0/3-(a+2)*u/8))
	}
	l := math.Log1p(u)
	whole := l
	if k := a - 1; math.Abs(k*l) > 1e-9 {
		whole = -math.Expm1(-k*l) / k
	}
	if math.IsInf(u, 1) {
		return whole // nothing is lost any more
	}
	return whole - u*math.Exp(-a*l)
}

// Interval returns after how many days the expected value of a visit reaches tau; +Inf where it never does.
func (r Rate) Interval(weight, tau float64) float64 {
	if tau <= 0 {
		return 0
	}
	if weight <= 0 {
		return math.Inf(1)
	}
	c := tau / (weight * r.B)
	if r.A > 1 && c*(r.A-1) >= 1-1e-12 {
		return math.Inf(1)
	}
	return r.B * inverseExpected(r.A, c)
}

// inverseExpected solves expected(a, u) = c by Newton's steps in ln u, kept between the bounds that are known.
func inverseExpected(a, c float64) float64 {
	low, high := math.Inf(-1), 100. // ln u
	s := math.Log(2*c/a) / 2
	for range 60 {
		u := math.Exp(s)
		h := expected(a, u)
		slope := a * u * u * math.Exp(-(a+1)*math.Log1p(u)) / h // d ln h / d ln u
		off := math.Log(h / c)
		if off < 0 {
			low = s
		} else {
			high = s
		}
		next := s - off/slope
		if !(next > low && next < high) || math.Abs(next-s) > 3 {
			next = math.Min(s+2, (s+high)/2)
			if off >= 0 {
				next = math.Max(s-2, (s+low)/2)
			}
		}
		if math.Abs(next-s) < 1e-8 {
			break
		}
		s = next
	}
	return math.Exp(s)
}
