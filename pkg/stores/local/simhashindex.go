package local

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// simhashIndex finds originals by the Hamming distance of their simhashes.
//
// Simhashes that differ in at most d bits have a half of 32 bits in which they differ in at most d/2, so the index
// holds each simhash under both halves, and a look-up for distance 3 probes 33 values of each: the half itself and its
// one-bit neighbours. Nearly all of these 66 are absent, which an in-memory filter knows; a probe costs a few
// nanoseconds and the database is asked only where something lies. (Manku, Jain, Das Sarma 2007, section 3, weigh
// tables against probes.) Measured beside other structures with 500,000 random simhashes on a busy machine, CPU a
// look-up and an insert: halves 11 and 7 µs; four bands of 16 bits 29 and 19 µs, with 30 candidates to check; ten
// tables of two blocks in five 92 and 42 µs.
type simhashIndex struct {
	s      *Store
	filter *blockFilter // of halves; nil until the first look-up
	words  [4][]uint32  // by radius: what flips yields, once it was asked for
	hashes []uint64     // of a look-up's probes
	alarms []int        // those of them that the filter does not rule out
}

// halfFilterShape: 8 MiB up to a million originals, 72 MiB for good. A look-up for distance 3 makes 66 probes, so false
// alarms must be rare: with two entries a word one look-up in 400 has one, which costs a seek; at 20 million originals,
// one in six. A first layer small enough for the processor's cache would make small sets faster and large ones
// slower.
var halfFilterShape = filterShape{firstLog: 20, nextLog: 3, layers: 2, entriesPerWord: 2}

func halfHash(kind byte, job jobNum, half uint32) uint64 {
	return spread(uint64(half) | uint64(job)<<32 | uint64(kind)<<48)
}

// find returns, to one caller at a time, the originals of the job whose simhashes differ from simhash in at most near
// bits (0 to 7).
func (x *simhashIndex) find(
	ctx context.Context, r *contentReader, job jobNum, simhash uint64, near int,
) (*candidates, error) {
	found := &candidates{simhash: simhash, near: near}
	if err := x.load(ctx); err != nil {
		return nil, err
	}
	for _, kind := range [...]byte{contentUpper, contentLower} {
		half, words := uint32(turned(kind, simhash)>>32), x.flipped(near/2)
		x.hashes = x.hashes[:0]
		for _, w := range words {
			x.hashes = append(x.hashes, halfHash(kind, job, half^w))
		}
		x.alarms = x.filter.screen(x.hashes, x.alarms[:0])
		for _, i := range x.alarms {
			if err := r.half(kind, job, half^words[i], found); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// note tells the filter of a simhash that is being added.
func (x *simhashIndex) note(job jobNum, simhash uint64) {
	x.filter.add(halfHash(contentUpper, job, uint32(simhash>>32)))
	x.filter.add(halfHash(contentLower, job, uint32(simhash)))
}

// load fills the filter from the index, at the first look-up: about 0.2 s for a million entries.
func (x *simhashIndex) load(ctx context.Context) error {
	if x.filter != nil {
		return nil
	}
	f := newBlockFilter(halfFilterShape)
	y := simhashIndex{s: x.s, filter: f}
	err := x.s.scan(ctx, []byte{kindContent, contentUpper}, func(key, _ []byte) error {
		o, simhash, ok := readSimhashKey(key)
		if !ok {
			return errContentRecord
		}
		y.note(o.job(), simhash)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the simhash index: %w", err)
	}
	x.filter = f
	return nil
}

// flipped returns what flips yields.
func (x *simhashIndex) flipped(radius int) []uint32 {
	if x.words[radius] == nil {
		x.words[radius] = slices.Collect(flips(radius))
	}
	return x.words[radius]
}

// flips yields the 32-bit words of at most radius set bits (0 to 3), the fewest first.
func flips(radius int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if !yield(0) {
			return
		}
		for n := 1; n <= radius; n++ {
			// The words of n bits in ascending order (Gosper's hack).
			for w := uint64(1)<<n - 1; w < 1<<32; {
				if !yield(uint32(w)) {
					return
				}
				low := w & -w
				ripple := w + low
				w = (ripple^w)>>2/low | ripple
			}
		}
	}
}

// candidates are the originals near a simhash.
type candidates struct {
	simhash uint64
	near    int
	list    []candidate
}

type candidate struct {
	key      originalKey
	distance int
}

func (c *candidates) add(key originalKey, simhash uint64) {
	if d := bits.OnesCount64(simhash ^ c.simhash); d <= c.near {
		c.list = append(c.list, candidate{key, d})
	}
}

// nearest returns up to n candidates, each once, by distance and then by key, so that equal questions get equal
// answers.
func (c *candidates) nearest(n int) []candidate {
	slices.SortFunc(c.list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), slices.Compare(a.key[:], b.key[:]))
	})
	c.list = slices.Compact(c.list)
	return c.list[:min(n, len(c.list))]
}
