package revisit

import "math"

// Pool learns what pages that have something in common are like before they are observed: those of a host, of a depth,
// of a content type. It is the mean of the logarithms of their rates. The zero value knows nothing.
type Pool struct {
	Pages float64 // that were observed
	Logs  float64 // sum of the logarithms of their mean rates
}

// poolDoubt is how many pages the general prior weighs. poolShape is the shape of a prior within a pool: pages of a
// host are more alike than all pages.
const (
	poolDoubt = 3
	poolShape = .8
)

// Learn takes in that the belief about a page of the pool moved. before is the zero Rate where the page is new to it.
func (p Pool) Learn(before, after Rate) Pool {
	if before.Known() {
		p.Logs -= math.Log(before.Mean())
	} else {
		p.Pages++
	}
	p.Logs += math.Log(after.Mean())
	return p
}

// Prior is the belief about a page of the pool that was not observed yet; broader is what is believed of pages at
// large.
func (p Pool) Prior(broader Rate) Rate {
	broader = broader.Or(Unknown())
	if p.Pages < 1 {
		return broader
	}
	mean := math.Exp((p.Logs + poolDoubt*math.Log(broader.Mean())) / (p.Pages + poolDoubt))
	return Rate{poolShape, poolShape / mean}.bounded()
}
