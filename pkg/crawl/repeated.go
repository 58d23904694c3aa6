package crawl

import "encoding/binary"

// ReasonSoft404 says that a page answered with a status of success, and with a few words that many pages of its host
// say.
const ReasonSoft404 = "soft-404"

// SetRepeated sets the sums (revisit.State.Sum) that many pages of the task's host have.
func (t *Task) SetRepeated(sums []uint64) {
	b := make([]byte, 0, 8*len(sums))
	for _, s := range sums {
		b = binary.BigEndian.AppendUint64(b, s)
	}
	t.Repeated = string(b)
}

// IsRepeated reports whether a sum is one of Repeated.
func (t *Task) IsRepeated(sum uint64) bool {
	for b := []byte(t.Repeated); len(b) >= 8; b = b[8:] {
		if binary.BigEndian.Uint64(b) == sum {
			return true
		}
	}
	return false
}
