package local

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// blockFilter tells of a hash that it was certainly not added, or may have been. It is a split block Bloom filter
// (Putze, Sanders, Singler 2007; the split into lanes is Apache Impala's): a block is 256 bits in eight lanes, and each
// entry sets one bit of each lane, so that a probe reads one cache line for each layer.
//
// Each layer takes a fixed number of entries, the last one all the rest, so memory is bounded and false positives
// increase beyond that. Nothing is ever copied, so no caller waits while the filter grows. It is safe for concurrent
// use.
type blockFilter struct {
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
	shift int          // 64 - log2 of the blocks
	room  atomic.Int64 // entries that it still takes
}

func newBlockFilter(shape filterShape) *blockFilter {
	f := &blockFilter{shape: shape}
	f.layers.Store(&[]*filterLayer{})
	f.grow(0)
	return f
}

// entries is how many hashes were added, some of them twice.
func (f *blockFilter) entries() int64 {
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
func (f *blockFilter) grow(from int) {
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

// A block is of blockWords words, with two lanes of 32 bits each.
const (
	blockLog   = 2
	blockWords = 1 << blockLog
)

// block is the block that the upper bits of h choose.
func (l *filterLayer) block(h uint64) *[blockWords]atomic.Uint64 {
	i := (h >> (l.shift & 63)) * blockWords
	return (*[blockWords]atomic.Uint64)(l.words[i : i+blockWords])
}

// wordBits are the two bits, one of each lane, that h sets in a word of its block. All words take 40 bits of h.
func wordBits(h uint64, word int) uint64 {
	h >>= word * 10
	return 1<<(h&31) | 1<<32<<(h>>5&31)
}

// add notes a hash. All its bits must be spread.
func (f *blockFilter) add(h uint64) {
	layers := *f.layers.Load()
	l := layers[len(layers)-1]
	if l.room.Add(-1) < 0 && len(layers) < f.shape.layers {
		f.grow(len(layers))
		f.add(h)
		return
	}
	b := l.block(h)
	for i := range b {
		if want := wordBits(h, i); b[i].Load()&want != want {
			b[i].Or(want)
		}
	}
	runtime.KeepAlive(l) // its words may lie outside of the heap
}

// mayHave reports false if h was not added.
func (f *blockFilter) mayHave(h uint64) bool {
	for _, l := range *f.layers.Load() {
		if l.mayHave(h) {
			return true
		}
	}
	runtime.KeepAlive(f)
	return false
}

func (l *filterLayer) mayHave(h uint64) bool {
	b := l.block(h)
	for i := range b {
		if want := wordBits(h, i); b[i].Load()&want != want {
			return false
		}
	}
	return true
}

// screen appends to alarms the indices of the hashes that may have been added, some of them twice. The probes of many
// hashes overlap their memory accesses.
func (f *blockFilter) screen(hashes []uint64, alarms []int) []int {
	for _, l := range *f.layers.Load() {
		for i, h := range hashes {
			if l.mayHave(h) {
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
