package revisit

import "math"

// rises returns 1 − e^(−x)(1+x), the probability that a process of rate 1 has two events or more until x: the part of
// its greatest value that a visit after x has. It lies in [0, 1) and grows with x.
func rises(x float64) float64 {
	if x < 1e-3 { // the difference would lose its digits
		return x * x * (0.5 - x*(1.0/3-x/8))
	}
	return -math.Expm1(-x) - x*math.Exp(-x)
}

// Value is what a visit is worth to a page that changes rate times a day, weighs weight and was visited days ago, in
// days of freshness times weight: weight/rate · (1 − e^(−x)(1+x)) with x = rate · days. It is the derivative of the
// page's mean freshness by its visits a day, where it is visited each so many days (Cho and Garcia-Molina, "Effective
// page refresh policies for web crawlers", TODS 28, 2003): the best plan visits each page where its value is the same.
func Value(rate, weight, days float64) float64 {
	if rate <= 0 || weight <= 0 || days <= 0 {
		return 0
	}
	return weight / rate * rises(rate*days)
}

// Interval returns after how many days the value of a page of a known rate reaches the threshold tau; +Inf where it
// never does, because the page changes so fast that visits are wasted on it (weight/rate ≤ tau).
func Interval(rate, weight, tau float64) float64 {
	if tau <= 0 {
		return 0
	}
	if rate <= 0 || weight <= 0 || weight/rate <= tau {
		return math.Inf(1)
	}
	return inverse(tau*rate/weight) / rate
}

// inverse solves rises(x) = c for 0 < c < 1, to 1e-12 of x.
func inverse(c float64) float64 {
	x := math.Sqrt(2*c) + 2*c/3
	if c > .8 {
		x = 1 - 1.3*math.Log1p(-c)
	}
	for range 60 {
		step := (rises(x) - c) / (x * math.Exp(-x))
		x -= math.Max(-1-x, math.Min(step, x/2)) // never below half of it, and by no leap where the slope is flat
		if math.Abs(step) <= 1e-12*x {
			break
		}
	}
	return x
}

// Fresh is the mean freshness, in [0, 1], of a page of a rate (changes a day) that is visited each so many days:
// (1 − e^(−x))/x with x = rate · days.
func Fresh(rate, days float64) float64 {
	x := rate * days
	switch {
	case x < 1e-9:
		return 1
	case math.IsInf(x, 1):
		return 0
	}
	return -math.Expm1(-x) / x
}
