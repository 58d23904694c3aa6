package fakeweb

import (
	"math"
	"math/bits"
)

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection whose output bits all depend on all input
// bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hash maps a purpose and its arguments to a number; different purposes are independent draws.
func hash(seed uint64, purpose uint64, args ...uint64) uint64 {
	h := mix(seed ^ purpose*0xd6e8feb86659fd93)
	for _, a := range args {
		h = mix(h ^ a)
	}
	return h
}

// unit maps a hash to [0, 1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// stream is a SplitMix64 generator.
type stream uint64

func (s *stream) next() uint64 {
	v := mix(uint64(*s))
	*s += 0x9e3779b97f4a7c15
	return v
}

// below is a draw from 0 to n-1; the bias of n/2^64 does not matter here.
func (s *stream) below(n int) int {
	hi, _ := bits.Mul64(s.next(), uint64(n))
	return int(hi)
}

func (s *stream) unit() float64 { return unit(s.next()) }

// sizes holds 256 quantiles of a log-normal distribution with mean 1: web pages are spread like that.
func sizes() (q [256]float64) {
	const sigma = 0.5 // chosen so that the middle 90 % of pages lie between 0.4 and 2 times the mean
	sum := 0.0
	for i := range q {
		p := (float64(i) + 0.5) / 256
		q[i] = math.Exp(sigma * math.Sqrt2 * math.Erfinv(2*p-1))
		sum += q[i]
	}
	for i := range q {
		q[i] *= 256 / sum
	}
	return q
}
