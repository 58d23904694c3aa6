package revisit

import "math"

// Parts of a doubling that a [Demand] tells apart, of the shape and the rate of beliefs and of weights.
const (
	cellsA, cellsB, cellsW = 2, 4, 4
)

type cell struct{ a, b, w int16 }

// Demand is a histogram of beliefs and weights: how many visits a day pages want at a threshold can be asked of it
// without asking each page. Its size follows from the spread of the beliefs, not from the number of pages: a few
// thousand cells. The zero value is empty.
type Demand struct {
	cells map[cell]int
	pages int
}

// Add counts a page in, or out where n is −1.
func (d *Demand) Add(r Rate, weight float64, n int) {
	if d.cells == nil {
		d.cells = map[cell]int{}
	}
	c := cell{part(r.A, cellsA), part(r.B, cellsB), part(weight, cellsW)}
	if d.cells[c] += n; d.cells[c] == 0 {
		delete(d.cells, c)
	}
	d.pages += n
}

// Merge counts the pages of another one in as well.
func (d *Demand) Merge(o *Demand) {
	if d.cells == nil {
		d.cells = make(map[cell]int, len(o.cells))
	}
	for c, n := range o.cells {
		d.cells[c] += n
	}
	d.pages += o.pages
}

// Pages is how many are counted.
func (d *Demand) Pages() int { return d.pages }

func part(x float64, cells int) int16 {
	return int16(math.Round(math.Log2(max(x, 1e-9)) * float64(cells)))
}

func whole(p int16, cells int) float64 { return math.Exp2(float64(p) / float64(cells)) }

// PerDay is how many visits a day the pages want at a threshold, each at least once in most days.
func (d *Demand) PerDay(tau, most float64) (sum float64) {
	for c, n := range d.cells {
		r := Rate{whole(c.a, cellsA), whole(c.b, cellsB)}
		sum += float64(n) / min(max(r.Interval(whole(c.w, cellsW), tau), 1e-3), most)
	}
	return sum
}

// Thresholds beyond which nothing is looked for: visits worth a second, or a thousand years, of a page of weight 1.
const leastTau, mostTau = 1e-5, 1e6

// Solve returns the threshold at which perDay visits a day are wanted; from is where to begin, the last solution or 0.
// Where even the longest intervals want more, it is the greatest threshold.
func (d *Demand) Solve(perDay, most, from float64) float64 {
	return solve(func(tau float64) float64 { return d.PerDay(tau, most) }, perDay, from)
}

// solve finds where a falling function is want, to a thousandth, by the rule of false position in logarithms: the
// number of visits is close to a power of the threshold.
func solve(f func(tau float64) float64, want, from float64) float64 {
	if want <= 0 {
		return mostTau
	}
	off := func(x float64) float64 { return math.Log(max(f(math.Exp(x)), 1e-12) / want) }
	x := math.Log(min(max(from, leastTau), mostTau))
	if from <= 0 {
		x = 0
	}
	y := off(x)
	low, ylow, high, yhigh := x, y, x, y
	for step := .1; ylow < 0 && low > math.Log(leastTau); step *= 3 {
		high, yhigh = low, ylow
		low = max(low-step, math.Log(leastTau))
		ylow = off(low)
	}
	for step := .1; yhigh > 0 && high < math.Log(mostTau); step *= 3 {
		low, ylow = high, yhigh
		high = min(high+step, math.Log(mostTau))
		yhigh = off(high)
	}
	if ylow <= 0 || yhigh >= 0 {
		return math.Exp(map[bool]float64{true: low, false: high}[ylow <= 0])
	}
	for range 60 {
		x = low + (high-low)*ylow/(ylow-yhigh)
		if y = off(x); math.Abs(y) < 1e-3 || high-low < 1e-6 {
			break
		}
		if y > 0 {
			low, ylow, yhigh = x, y, yhigh/2 // the end that stays loses weight, or it would stay for ever
		} else {
			high, yhigh, ylow = x, y, ylow/2
		}
	}
	return math.Exp(x)
}
