package revisit

import "math"

// The weight of a page is kept in an octet, in eighths of a doubling around 1.
const (
	evenWeight = 128
	perDouble  = 8
)

// WeightOctet is the octet for a weight: from 2^-16 to 2^15.875, to 4.5 %. A weight that is not above zero gets the
// least.
func WeightOctet(weight float64) uint8 {
	if !(weight > 0) {
		return 0
	}
	m := math.Round(evenWeight + perDouble*math.Log2(weight))
	return uint8(math.Min(math.Max(m, 0), 255))
}

// OctetWeight is the weight that an octet stands for.
func OctetWeight(m uint8) float64 { return math.Exp2((float64(m) - evenWeight) / perDouble) }

// PageWeight is the weight of a page: what the rules of its job say (1 where they say nothing), less with its depth
// below the seeds, and, in a crawl with a topic, less where it is off that: relevance is the probability that it is on
// topic, and 1 where there is none.
func PageWeight(rule float64, depth int, relevance float64) float64 {
	return rule / (1 + float64(max(depth, 0))/4) * (.2 + .8*math.Min(math.Max(relevance, 0), 1))
}
