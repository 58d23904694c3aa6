package frontier

import (
	"encoding/binary"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A task that is marked Repeat may have a copy in the queues that is not marked: the one that was queued first. Mostly
// that one's turn is first too, and the marked one is dropped then. But two messages may overtake each other, and a
// copy may be put aside, for a retry or because its domain has too many hosts. Then the marked copy is fetched first.
// The other one must not be fetched again, and its outcome is not the first of its URL. So the frontier remembers of
// which URLs it has queued marked copies, and asks the ledger about every copy of these.

// doubted is a set of URLs that may say yes of one that it does not hold, never no of one that it does.
type doubted struct{ bits []uint64 }

// Its size, and how many bits stand for a URL. With a million URLs it is wrong about one in forty: the ledger is asked
// once more than need be.
const (
	doubtedLog  = 23 // of the bits: 1 MiB, taken with the first URL
	doubtedBits = 4
)

func (d *doubted) add(k weburl.Key) {
	if d.bits == nil {
		d.bits = make([]uint64, 1<<doubtedLog/64)
	}
	eachBit(k, func(word int, bit uint64) bool {
		d.bits[word] |= bit
		return true
	})
}

func (d *doubted) has(k weburl.Key) bool {
	return d.bits != nil && eachBit(k, func(word int, bit uint64) bool { return d.bits[word]&bit != 0 })
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

// doubt notes the tasks that may have copies. f.mu is held.
func (f *Frontier) doubt(items []crawl.Queued) {
	for i := range items {
		if t := &items[i].Task; t.Repeat && t.Kind != crawl.KindRobots {
			f.doubted.add(t.URL.Key())
		}
	}
}

// isDoubted reports whether there may be, or have been, a marked copy of a task. f.mu is held.
func (f *Frontier) isDoubted(t *crawl.Task) bool {
	return f.doubted.bits != nil && f.doubted.has(t.URL.Key())
}

// markDoubted marks the host's next task where there may be a marked copy of it.
func (f *Frontier) markDoubted(h *host) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(h.buf) == 0 {
		return
	}
	t := &h.buf[0].Task
	t.Repeat = t.Repeat || t.Kind != crawl.KindRobots && f.isDoubted(t)
}

// sureFirst reports whether an outcome of a task is the first of its URL, if that of no copy of it is.
func (f *Frontier) sureFirst(t *crawl.Task) bool {
	if t.Repeat || t.Visit != 0 {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.isDoubted(t)
}
