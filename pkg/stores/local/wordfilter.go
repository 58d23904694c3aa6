package local

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// wordFilter tells of a hash that it was certainly not added, or may have been. It is a blocked Bloom filter (Putze,
// Sanders, Singler 2007) whose blocks are single words, so that a probe reads one word for each layer. Each entry sets
// five bits of a word.
//
// Each layer takes a fixed number of entries, the last one all the rest, so memory is bounded and false positives
// increase beyond that. Nothing is ever copied, so no caller waits while the filter grows. It is safe for concurrent
// use.
type wordFilter struct {
	shape  filterShape
	mu     sync.Mutex // of growing
	layers atomic.Pointer[[]*filterLayer]
}

// filterShape is the size of a filter: the words of its first layer and their growth from layer to layer, as powers of
// two.
type filterShape struct {
	firstLog, nextLog int
	layers            int
	entriesPerWord    int
}

type filterLayer struct {
	words []atomic.Uint64
	shift int          // 64 - log2 of the words
	room  atomic.Int64 // entries that it still takes
}

func newWordFilter(shape filterShape) *wordFilter {
	f := &wordFilter{shape: shape}
	f.layers.Store(&[]*filterLayer{})
	f.grow(0)
	return f
}

// entries is how many hashes were added, some of them twice.
func (f *wordFilter) entries() int64 {
	layers := *f.layers.Load()
	n := int64(0)
	for i := range layers {
		n += int64(f.shape.entriesPerWord)<<(f.shape.firstLog+i*f.shape.nextLog) - layers[i].room.Load()
	}
	return n
}

// capacity is how many entries keep the rate of false alarms low.
func (s filterShape) capacity() (n int64) {
	for i := range s.layers {
		n += int64(s.entriesPerWord) << (s.firstLog + i*s.nextLog)
	}
	return n
}

// grow adds a layer unless another goroutine did since there were so many.
func (f *wordFilter) grow(from int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := *f.layers.Load()
	if len(old) != from {
		return
	}
	log := f.shape.firstLog + f.shape.nextLog*from
	l := newFilterLayer(log)
	l.room.Store(int64(f.shape.entriesPerWord) << log)
	layers := append(append(make([]*filterLayer, 0, from+1), old...), l)
	f.layers.Store(&layers)
}

// wordBits are the five bits, of which some may coincide, that h sets in its word. The upper bits of h choose the word.
func wordBits(h uint64) uint64 {
	return 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63) | 1<<(h>>18&63) | 1<<(h>>24&63)
}

// add notes a hash. All its bits must be spread.
func (f *wordFilter) add(h uint64) {
	layers := *f.layers.Load()
	l := layers[len(layers)-1]
	if l.room.Add(-1) < 0 && len(layers) < f.shape.layers {
		f.grow(len(layers))
		f.add(h)
		return
	}
	l.words[h>>l.shift].Or(wordBits(h))
	runtime.KeepAlive(l) // its words may lie outside of the heap
}

// mayHave reports false if h was not added.
func (f *wordFilter) mayHave(h uint64) bool {
	want := wordBits(h)
	for _, l := range *f.layers.Load() {
		if l.words[h>>l.shift].Load()&want == want {
			return true
		}
	}
	runtime.KeepAlive(f)
	return false
}

// screen appends to alarms the indices of the hashes that may have been added, some of them twice. The probes of many
// hashes overlap their memory accesses.
func (f *wordFilter) screen(hashes []uint64, alarms []int) []int {
	for _, l := range *f.layers.Load() {
		words, shift := l.words, l.shift&63
		for i, h := range hashes {
			if want := wordBits(h); words[h>>shift].Load()&want == want {
				alarms = append(alarms, i)
			}
		}
	}
	runtime.KeepAlive(f)
	return alarms
}

// spread hashes a number so that all bits of the result depend on all of x.
func spread(x uint64) uint64 {
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}
