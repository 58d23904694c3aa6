package due

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// cache remembers recent URLs: a table with one place a slot, so its size is fixed and a newer URL pushes an older one
// out. Most links of a page lead to pages that other pages link to as well; they need not be asked for.
//
// The low bits of a mark say which slot is its. In the slot they hold what is known of the URL besides: how often it
// was found again, and at which depth it was claimed.
type cache struct {
	slots []atomic.Uint64
	mask  uint64
}

// newCache returns a cache of 2^bits slots of 8 bytes.
func newCache(bits int) *cache {
	return &cache{slots: make([]atomic.Uint64, 1<<bits), mask: 1<<bits - 1}
}

// mark tells a URL that was claimed from one that was only excluded, and jobs from each other.
func mark(k weburl.Key, salt uint64) uint64 {
	return binary.LittleEndian.Uint64(k[16:]) ^ binary.LittleEndian.Uint64(k[:]) ^ salt
}

func (c *cache) has(m uint64) bool { return (c.slots[m&c.mask].Load()^m)>>infoBits == 0 }
func (c *cache) add(m uint64)      { c.slots[m&c.mask].Store(m &^ infoMask) }

// lookUp returns the marks of n URLs, which of them the cache has, and how many; none where all are to be asked for
// anew. The slots are read one right after the other, so that the processor waits for several at once: each is a miss
// of its caches.
func (c *cache) lookUp(n int, key func(i int) weburl.Key, salt uint64,
	anew bool) (marks []uint64, has []bool, known int) {
	marks, has = make([]uint64, n), make([]bool, n)
	for i := range marks {
		marks[i] = mark(key(i), salt)
	}
	if anew {
		return marks, has, 0
	}
	for i, m := range marks {
		has[i] = c.has(m)
	}
	for _, ok := range has {
		if ok {
			known++
		}
	}
	return marks, has, known
}
