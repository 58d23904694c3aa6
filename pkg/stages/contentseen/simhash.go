package contentseen

import (
	"math"
	"math/bits"

	mfonda "github.com/mfonda/simhash"
)

const (
	minSlots       = 1 << 8
	maxPooledSlots = 1 << 16
	// weightOne is the weight of a word that occurs once, in the fixed point that the fold reckons in.
	weightOne = 1 << 8
)

// terms counts how often each word occurs: a list of words, and a hash table with open addressing of their places in
// it, which is small enough for the processor's first cache. Pages choose their words and xxh3 is no secret, so the
// slot of a word is chosen by a random multiplier: a page cannot be made whose words share one slot.
type terms struct {
	words  []term   // in order of first occurrence
	slots  []uint32 // 1 + a place in words; 0: empty
	shift  int      // 64 - log2(slots in use)
	secret uint64   // odd
}

type term struct {
	hash uint64
	tf   uint32
}

// reset readies t for a text of n bytes, taking one byte in 8 for a slot until it shows otherwise: half of its words
// may be different ones then.
func (t *terms) reset(n int) {
	t.words = t.words[:0]
	t.clear(min(1<<bits.Len(uint(max(n/8, minSlots)-1)), maxPooledSlots))
}

// clear readies size slots, a power of 2: a table left by a longer text is used in part.
func (t *terms) clear(size int) {
	if len(t.slots) < size {
		t.slots = make([]uint32, size)
	} else {
		clear(t.slots[:size])
	}
	t.shift = 64 - bits.TrailingZeros(uint(size))
}

// add counts one occurrence of the word whose hash is h.
func (t *terms) add(h uint64) {
	slots := t.slots
	mask := uint64(1)<<(64-t.shift) - 1
	i := h * t.secret >> t.shift
	for {
		place := slots[i]
		if place == 0 {
			break
		}
		if w := &t.words[place-1]; w.hash == h {
			w.tf++
			return
		}
		i = (i + 1) & mask
	}
	t.words = append(t.words, term{hash: h, tf: 1})
	slots[i] = uint32(len(t.words))
	if 2*uint64(len(t.words)) > mask+1 {
		t.grow()
	}
}

// grow doubles the slots in use, keeping to the table at hand if it is long enough.
func (t *terms) grow() {
	t.clear(2 << (64 - t.shift))
	mask := uint64(1)<<(64-t.shift) - 1
	for place := range t.words {
		i := t.words[place].hash * t.secret >> t.shift
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(place + 1)
	}
}

// simhash folds the words, each weighted 1 + ln(tf), into 64 bits: bit i is set when the words whose hashes have it set
// weigh at least as much as the others (Charikar 2002).
func (t *terms) simhash() uint64 {
	var f fold
	for i := range t.words {
		if w := &t.words[i]; w.tf == 1 {
			f.addOnce(w.hash)
		} else {
			f.add(w.hash, weight(w.tf))
		}
	}
	return mfonda.Fingerprint(f.vector())
}

// weight returns 1 + ln(tf) in units of 1/weightOne.
func weight(tf uint32) uint64 {
	if tf < uint32(len(weights)) {
		return uint64(weights[tf])
	}
	return uint64(math.Round(weightOne * (1 + math.Log(float64(tf)))))
}

// weights are those of the small counts, which most words have.
var weights = func() (w [64]uint16) {
	for tf := 1; tf < len(w); tf++ {
		w[tf] = uint16(math.Round(weightOne * (1 + math.Log(float64(tf)))))
	}
	return w
}()

// fold adds up, for each of 64 bits, the weight of the hashes that have it set. Sixteen words hold four 16-bit sums
// each, so that a hash costs 16 multiplications and no branch; they are emptied into the vector before they could
// overflow.
//
// Most words of a text occur once. Their hashes go by eights through carry-save adders, which leave one hash of eight
// times the weight to add (Harley and Seal; Warren, Hacker's Delight, 2nd edition, 5-1).
type fold struct {
	sums    [16]uint64 // the sum for bit k+16j lies in bits 16j to 16j+15 of sums[k]
	pending uint64     // weight in sums
	total   uint64
	set     mfonda.Vector

	once              [8]uint64 // hashes of words that occur once, on their way to the adders
	n                 int       // how many
	ones, twos, fours uint64    // what the adders hold, bit by bit: counts of 1, 2 and 4
}

const lanes = 0x0001_0001_0001_0001

// add adds a hash of weight w.
func (f *fold) add(h, w uint64) {
	f.total += w
	f.sum(h, w)
}

// addOnce adds the hash of a word that occurs once.
func (f *fold) addOnce(h uint64) {
	f.total += weightOne
	f.once[f.n] = h
	if f.n++; f.n == len(f.once) {
		f.sum(f.eight(), 8*weightOne)
	}
}

// eight empties the buffer of eight hashes into the adders, and returns the carry: a count of 8 for each bit set in it.
func (f *fold) eight() (eights uint64) {
	f.n = 0
	h := &f.once
	var a, b, c, d, e, g uint64
	a, f.ones = carrySave(f.ones, h[0], h[1])
	b, f.ones = carrySave(f.ones, h[2], h[3])
	e, f.twos = carrySave(f.twos, a, b)
	c, f.ones = carrySave(f.ones, h[4], h[5])
	d, f.ones = carrySave(f.ones, h[6], h[7])
	g, f.twos = carrySave(f.twos, c, d)
	eights, f.fours = carrySave(f.fours, e, g)
	return eights
}

// carrySave adds three bits in each of 64 columns.
func carrySave(a, b, c uint64) (carry, sum uint64) {
	ab := a ^ b
	return a&b | ab&c, ab ^ c
}

// sum adds w to the sums of the bits that are set in h.
func (f *fold) sum(h, w uint64) {
	if f.pending += w; f.pending > math.MaxUint16 {
		f.flush()
		f.pending = w
	}
	for k := range f.sums {
		f.sums[k] += (h >> k & lanes) * w
	}
}

func (f *fold) flush() {
	for k, sum := range f.sums {
		f.set[k] += int(sum & 0xffff)
		f.set[k+16] += int(sum >> 16 & 0xffff)
		f.set[k+32] += int(sum >> 32 & 0xffff)
		f.set[k+48] += int(sum >> 48)
	}
	f.sums = [16]uint64{}
}

// vector returns for each bit the weight of the hashes that have it set less the weight of those that do not.
func (f *fold) vector() mfonda.Vector {
	for _, h := range f.once[:f.n] {
		f.sum(h, weightOne)
	}
	f.sum(f.ones, weightOne)
	f.sum(f.twos, 2*weightOne)
	f.sum(f.fours, 4*weightOne)
	f.flush()
	for i := range f.set {
		f.set[i] = 2*f.set[i] - int(f.total)
	}
	return f.set
}

// Distance returns the Hamming distance of two simhashes, 0 to 64.
func Distance(a, b uint64) int { return int(mfonda.Compare(a, b)) }
