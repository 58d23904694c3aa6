package local

// halfFilter knows which half simhashes may be in the index: a blocked Bloom filter (Putze, Sanders, Singler 2007) whose
// blocks are single words, so that a probe reads one word. A look-up for distance 3 makes 66 probes; with five bits set
// in a word by each of two entries, one look-up in 30 has a false alarm, which costs a seek.
//
// Its layers take a fixed number of entries each, the last all the rest: 8 MiB up to a million originals, 72 MiB for
// good; at 20 million, every second look-up has a false alarm. Nothing is ever copied, so no claim waits for a
// growing filter. A first layer small enough for the processor's cache would make small sets faster and large ones
// slower, whose look-ups add up the false alarms of all layers.
type halfFilter struct {
	layers []filterLayer
}

type filterLayer struct {
	words []uint64
	shift int // 64 - log2 of the words
	room  int // entries that it still takes
}

const (
	maxLayers      = 2
	firstLayerLog  = 20 // log2 of the words of the first layer
	nextLayerLog   = 3  // log2 of the growth
	entriesPerWord = 2
)

func newHalfFilter() *halfFilter {
	f := &halfFilter{}
	f.grow()
	return f
}

func (f *halfFilter) grow() {
	log := firstLayerLog + nextLayerLog*len(f.layers)
	f.layers = append(f.layers, filterLayer{words: make([]uint64, 1<<log), shift: 64 - log, room: entriesPerWord << log})
}

// halfHash spreads a half over 64 bits. The upper ones choose the word, the lower ones the bits in it.
func halfHash(kind byte, job jobNum, half uint32) uint64 {
	x := uint64(half) | uint64(job)<<32 | uint64(kind)<<48
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

// wordBits are the five bits, of which some may coincide, that h sets in its word.
func wordBits(h uint64) uint64 {
	return 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63) | 1<<(h>>18&63) | 1<<(h>>24&63)
}

func (f *halfFilter) add(kind byte, job jobNum, half uint32) {
	l := &f.layers[len(f.layers)-1]
	if l.room <= 0 && len(f.layers) < maxLayers {
		f.grow()
		l = &f.layers[len(f.layers)-1]
	}
	l.room--
	h := halfHash(kind, job, half)
	l.words[h>>l.shift] |= wordBits(h)
}

func (f *halfFilter) mayHave(kind byte, job jobNum, half uint32) bool {
	h := halfHash(kind, job, half)
	want := wordBits(h)
	for i := range f.layers {
		if l := &f.layers[i]; l.words[h>>l.shift]&want == want {
			return true
		}
	}
	return false
}
