package contentseen

import "math"

const (
	shingleWords = 4
	// SketchSize is the length of a sketch in bytes, one a bin. The estimate's standard error is sqrt(J(1-J)/128): .035
	// at a resemblance of .8, .024 at .92, which is what remains after changing one word in a hundred.
	SketchSize = 128
	// Resemblance is the least similarity of sketches that confirms a near-duplicate.
	Resemblance = 0.8

	empty   = 0   // the byte of a bin without shingle
	symbols = 255 // the other values of a byte
)

// shingle combines the hashes of four words, the newest first, so that their order counts.
func shingle(a, b, c, d uint64) uint64 {
	x := a + b*0x9e3779b97f4a7c15 + c*0xd1b54a32d192ed03 + d*0x8cb92ba72f3d8dd7
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>29
}

// minima are the least shingle hashes of each bin: minhash with one permutation (Li, Owen, Zhang 2012). The top bits of
// a hash choose the bin. An empty bin holds the largest hash.
type minima [SketchSize]uint64

func (m *minima) reset() {
	for i := range m {
		m[i] = math.MaxUint64
	}
}

func (m *minima) add(h uint64) {
	bin := &m[h>>57]
	*bin = min(*bin, h) // no branch: whether it is less nobody could foretell
}

// sketch keeps a byte of each minimum (b-bit minwise hashing: Li, König 2010).
func (m *minima) sketch() []byte {
	out := make([]byte, SketchSize)
	for i, h := range m {
		if h != math.MaxUint64 {
			out[i] = 1 + byte(h&0xffff*symbols>>16)
		}
	}
	return out
}

// Similarity estimates the Jaccard resemblance of the sets of four-word shingles of two texts from their sketches, 0 to
// 1. Sketches of unlike or no length have 0 in common.
//
// The share of equal bins among those not empty in both is an unbiased estimate (Li, Owen, Zhang 2012, zero coding);
// one in 255 bins that both fill is equal by chance and is taken off.
func Similarity(a, b []byte) float64 {
	if len(a) != len(b) || len(a) == 0 {
		return 0
	}
	var equal, filled, either int
	for i, x := range a {
		y := b[i]
		if x|y == empty {
			continue
		}
		either++
		if x != empty && y != empty {
			filled++
			if x == y {
				equal++
			}
		}
	}
	if either == 0 {
		return 0
	}
	const chance = 1.0 / symbols
	matches := (float64(equal) - chance*float64(filled)) / (1 - chance)
	return max(0, matches/float64(either))
}
