package frontier

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A task that is marked Repeat may have a copy in the queues that is not marked: the one that was queued first. Mostly
// that one's turn is first too, and the marked one is dropped then. But two messages may overtake each other, and a
// copy may be put aside, for a retry or because its domain has too many hosts. Then the marked copy is fetched first.
// The other one must not be fetched again, and its outcome is not the first of its URL. So the frontier remembers of
// which URLs it has queued marked copies, and asks the ledger about every copy of these.

// doubted is a set of URLs that may say yes of one that it does not hold, never no of one that it does. It needs no
// lock.
type doubted struct {
	bits atomic.Pointer[[doubtedWords]uint64]
}

// Its size, and how many bits stand for a URL. With a million URLs it is wrong about one in forty: the ledger is asked
// once more than need be.
const (
	doubtedLog   = 23 // of the bits: 1 MiB, taken with the first URL
	doubtedWords = 1 << doubtedLog / 64
	doubtedBits  = 4
)

func (d *doubted) add(k weburl.Key) {
	if d.bits.Load() == nil {
		d.bits.CompareAndSwap(nil, new([doubtedWords]uint64))
	}
	bits := d.bits.Load()
	eachBit(k, func(word int, bit uint64) bool {
		atomic.OrUint64(&bits[word], bit)
		return true
	})
}

func (d *doubted) has(k weburl.Key) bool {
	bits := d.bits.Load()
	return bits != nil && eachBit(k, func(word int, bit uint64) bool { return atomic.LoadUint64(&bits[word])&bit != 0 })
}

// eachBit calls f for the bits that stand for a URL until it returns false. A key is a hash.
func eachBit(k weburl.Key, f func(word int, bit uint64) bool) bool {
	a, b := binary.BigEndian.Uint64(k[8:]), binary.BigEndian.Uint64(k[16:])|1
	for i := range uint64(doubtedBits) {
		at := (a + i*b) >> (64 - doubtedLog)
		if !f(int(at/64), 1<<(at%64)) {
			return false
		}
	}
	return true
}

// note adds the tasks that may have copies. It is called before they are queued.
func (d *doubted) note(items []crawl.Queued) {
	for i := range items {
		if t := &items[i].Task; t.Repeat && t.Kind.InLedger() {
			d.add(t.URL.Key())
		}
	}
}

// holds reports whether there may be, or have been, a marked copy of a task.
func (d *doubted) holds(t *crawl.Task) bool {
	return d.bits.Load() != nil && d.has(t.URL.Key())
}

// sureFirst reports whether an outcome of a task is the first of its URL, if that of no copy of it is.
func (d *doubted) sureFirst(t *crawl.Task) bool {
	return !t.Repeat && t.Visit == 0 && !d.holds(t)
}

// markDoubted marks the host's next task where there may be a marked copy of it. The dispatcher calls it.
func (dp *dispatcher) markDoubted(h *host) {
	if len(h.buf) == 0 {
		return
	}
	t := &h.buf[0].Task
	if t.Repeat || !t.Kind.InLedger() || !dp.doubted.holds(t) {
		return
	}
	dp.mu.Lock()
	t.Repeat = true
	dp.mu.Unlock()
}
