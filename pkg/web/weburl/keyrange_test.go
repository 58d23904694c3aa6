package weburl

import (
	"math"
	"testing"
)

func TestKeysInRanges(t *testing.T) {
	in := []KeyRange{{0, 4}, {7, 7}, {100, math.MaxUint64}}
	for host, want := range map[uint64]bool{0: true, 4: true, 5: false, 6: false, 7: true, 8: false, 99: false, 100: true,
		math.MaxUint64: true} {
		var k Key
		for i := range 8 {
			k[i] = byte(host >> (56 - 8*i))
		}
		if k.Host() != host || InRanges(in, k) != want || !InRanges(AllKeys(), k) || InRanges(nil, k) {
			t.Errorf("host %d: of the key %d, in the ranges %v, want %v", host, k.Host(), InRanges(in, k), want)
		}
	}
}

func TestShareOfRanges(t *testing.T) {
	for want, in := range map[float64][]KeyRange{0: nil, 1: AllKeys(), 0.25: {{1 << 62, 1<<63 - 1}},
		0.5: {{0, 1<<62 - 1}, {1 << 63, 3<<62 - 1}}} {
		if got := Share(in); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v are %g of all keys, want %g", in, got, want)
		}
	}
}
