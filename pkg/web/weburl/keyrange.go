package weburl

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// KeyRange is the keys of the hosts from First to Last, both included: what Key.Host returns of them.
type KeyRange struct{ First, Last uint64 }

// AllKeys returns the one range of all keys.
func AllKeys() []KeyRange { return []KeyRange{{0, math.MaxUint64}} }

// Host returns the first 8 bytes of a key, the hash of its host, in their order.
func (k Key) Host() uint64 { return binary.BigEndian.Uint64(k[:8]) }

// Contains reports whether a key is in the range.
func (r KeyRange) Contains(k Key) bool { return r.First <= k.Host() && k.Host() <= r.Last }

// InRanges reports whether a key is in one of the ranges, which are in order and apart.
func InRanges(in []KeyRange, k Key) bool {
	i, _ := slices.BinarySearchFunc(in, k.Host(), func(r KeyRange, host uint64) int { return cmp.Compare(r.Last, host) })
	return i < len(in) && in[i].Contains(k)
}

// Share returns which part of all keys the ranges are, from 0 to 1, if none is in two of them.
func Share(in []KeyRange) (part float64) {
	for _, r := range in {
		part += (float64(r.Last-r.First) + 1) / math.Exp2(64)
	}
	return part
}
