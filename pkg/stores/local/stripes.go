package local

import (
	"slices"
	"sync"
)

// stripes are locks shared by hash, for reading and writing an entry as one step. Take several in ascending order, so
// that callers do not deadlock.
type stripes [256]sync.Mutex

// lock takes the stripes of the hashes, each once, and returns what lets them go.
func (s *stripes) lock(hashes []byte) (unlock func()) {
	if len(hashes) == 1 {
		s[hashes[0]].Lock()
		return s[hashes[0]].Unlock
	}
	var want [256]bool
	order := make([]byte, 0, min(len(hashes), len(want)))
	for _, h := range hashes {
		if !want[h] {
			want[h] = true
			order = append(order, h)
		}
	}
	slices.Sort(order)
	for _, h := range order {
		s[h].Lock()
	}
	return func() {
		for _, h := range order {
			s[h].Unlock()
		}
	}
}
