package local

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// queue is the state in memory of a queue that is not empty. Its tasks are on disk under consecutive numbers:
//
//	  settled     out: pulled, some settled     waiting           joined a group, not written yet
//	----------|------------------------------|------------------|-------------------------------|
//	          first                          next               ready                           tail
//
// After a restart nothing is pulled, but tasks settled behind an unsettled one have left holes. Their number is stored
// if it is not zero, which is rare, so that the length of a queue follows from its first and its last number.
type queue struct {
	name string

	mu    sync.Mutex
	gone  bool     // it was empty and was forgotten: look it up again
	next  uint64   // next to be pulled
	ready uint64   // numbers below are written
	tail  uint64   // next to be pushed
	old   uint64   // numbers below were there when the store was opened
	out   []uint64 // pulled and not settled, ascending
	holes uint64   // numbers in [next, tail) without a task
	saved uint64   // what is on disk for missing()
}

// length is the number of tasks, pulled ones included.
func (q *queue) length() uint64 { return q.tail - q.next - q.holes + uint64(len(q.out)) }

// missing is the number of holes between the first task and the last.
func (q *queue) missing() uint64 {
	n := q.length()
	if n == 0 {
		return 0
	}
	first, last := q.next, q.tail-1
	if len(q.out) > 0 {
		first = q.out[0]
		if q.next == q.tail {
			last = q.out[len(q.out)-1]
		}
	}
	return last - first + 1 - n
}

// saveHoles writes missing() if it changed. It is called in the fill that changed it.
func (q *queue) saveHoles(b *pebble.Batch) {
	now := q.missing()
	switch now {
	case q.saved:
		return
	case 0:
		_ = b.Delete(stringKey(kindHoles, q.name), nil)
	default:
		_ = b.Set(stringKey(kindHoles, q.name), binary.AppendUvarint(nil, now), nil)
	}
	q.saved = now
}

// settle takes a number out of what is pulled; false when it is not among it.
func (q *queue) settle(seq uint64) bool {
	i, ok := slices.BinarySearch(q.out, seq)
	if ok {
		q.out = slices.Delete(q.out, i, i+1)
		if len(q.out) == 0 {
			q.out = nil // hosts are many, most have one task out at times
		}
	}
	return ok
}

// prefix starts the keys of the queue's tasks.
func (q *queue) prefix() []byte {
	return append(append(append(make([]byte, 0, len(q.name)+2+8), kindQueue), q.name...), 0)
}

func (q *queue) key(seq uint64) []byte { return binary.BigEndian.AppendUint64(q.prefix(), seq) }
