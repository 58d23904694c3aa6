package local

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// manyOfHost is from how many keys of one host on an iterator is cheaper than a look-up each. A claim of 30 known URLs,
// µs by look-ups and by iterator: 44 to 55 and 26 to 30 where they are of one host, 84 to 132 and 124 to 162 with four
// of each, 115 to 327 and 320 to 412 with one (stores of 300,000 and of five million URLs).
const manyOfHost = 10

// read fills in the entries of sorted slots.
func (u *URLs) read(slots []slot, open func(i int) bool) error {
	if !u.ask(slots, open) {
		return nil
	}
	// Until our filter is whole, most of what is asked is not there, and Pebble's filters of the lowest level say so.
	whole := u.filter.complete.Load()
	for len(slots) > 0 {
		n, read := len(slots), u.readAll
		if whole {
			var asked int
			if n, asked = ofOneHost(slots); asked < manyOfHost {
				read = u.readEach
			}
		}
		if err := read(slots[:n]); err != nil {
			return err
		}
		slots = slots[n:]
	}
	return nil
}

// ofOneHost returns how many slots from the first on are of its host, and how many of them are asked for.
func ofOneHost(slots []slot) (n, asked int) {
	for n < len(slots) && slots[n].key.host() == slots[0].key.host() {
		if slots[n].ask {
			asked++
		}
		n++
	}
	return n, asked
}

// ask marks the slots of which the database must be asked, and reports whether there are any. What is open by the
// caller's word costs nothing.
func (u *URLs) ask(slots []slot, open func(i int) bool) (asked bool) {
	var at []int // the slots in question
	for i := range slots {
		if sl := &slots[i]; open != nil && open(sl.arg) {
			sl.before.state = crawl.StateOpen
			continue
		}
		if at == nil {
			at = make([]int, 0, len(slots)-i)
		}
		at = append(at, i)
	}
	if !u.filter.complete.Load() {
		for _, i := range at {
			slots[i].ask = true
		}
		return len(at) > 0
	}
	hashes := make([]uint64, len(at))
	for n, i := range at {
		hashes[n] = slots[i].key.hash()
	}
	for _, n := range u.filter.screen(hashes, nil) {
		slots[at[n]].ask, asked = true, true
	}
	return asked
}

// readEach looks up each entry that is asked for.
func (u *URLs) readEach(slots []slot) error {
	for i := range slots {
		if sl := &slots[i]; sl.ask {
			if _, err := u.s.db.Get(sl.key[:], sl.before.decode); err != nil {
				return sl.failed(err)
			}
		}
	}
	return nil
}

// readAll moves one iterator over the entries that are asked for.
func (u *URLs) readAll(slots []slot) error {
	it, err := u.s.db.NewIter(&pebble.IterOptions{LowerBound: slots[0].key[:1], UpperBound: []byte{kindURL + 1},
		UseL6Filters: !u.filter.complete.Load() || u.s.filtersFit()})
	if err != nil {
		return fmt.Errorf("read entries: %w", err)
	}
	for i := range slots {
		if sl := &slots[i]; sl.ask && it.SeekPrefixGE(sl.key[:]) {
			if err := sl.before.decode(it.Value()); err != nil {
				_ = it.Close()
				return sl.failed(err)
			}
		}
	}
	return it.Close()
}

func (sl *slot) failed(err error) error { return fmt.Errorf("entry of URL %s: %w", sl.key.key(), err) }
