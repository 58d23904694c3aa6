package local

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// contentReader reads a snapshot of the content set with one iterator. Most keys that a claim looks up do not exist.
// Only an iterator can consult the bloom filters of the lowest level of tables; Pebble's Get never does, and with a
// million originals that costs a block read from disk for each absent key.
type contentReader struct {
	s  *Store
	it iterator
}

func (r *contentReader) open() (err error) {
	if r.it.Iterator != nil {
		return nil
	}
	r.it, err = r.s.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte{kindContent}, UpperBound: []byte{kindContent + 1}, UseL6Filters: !r.s.stored.complete.Load() ||
			r.s.filtersFit(),
	})
	return r.wrap(err)
}

func (r *contentReader) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("read state of %s: %w", r.s.dir, err)
	}
	return nil
}

// get reads a key into the function while the value lasts.
func (r *contentReader) get(key []byte, use func(value []byte) error) (found bool, err error) {
	if r.s.stored.absent(key) {
		return false, nil
	}
	if err := r.open(); err != nil {
		return false, err
	}
	if !r.it.SeekPrefixGE(key) || !bytes.Equal(r.it.Key(), key) {
		return false, r.wrap(r.it.Error())
	}
	v, err := r.it.ValueAndErr()
	if err != nil {
		return false, r.wrap(err)
	}
	return true, use(v)
}

// maxHalfScan bounds the entries that are read under one half value. A site of pages made from one template can
// have any number; beyond this bound near-duplicates among them may be taken for originals.
const maxHalfScan = 4096

// half adds to found the index entries under one half value.
func (r *contentReader) half(kind byte, job jobNum, half uint32, found *candidates) error {
	if err := r.open(); err != nil {
		return err
	}
	var prefix [contentPrefixSize + 4]byte
	putContentPrefix(prefix[:], kind, job)
	binary.BigEndian.PutUint32(prefix[contentPrefixSize:], half)
	n := 0
	for ok := r.it.SeekGE(prefix[:]); ok && n < maxHalfScan && bytes.HasPrefix(r.it.Key(), prefix[:]); ok = r.it.Next() {
		o, simhash, ok := readSimhashKey(r.it.Key())
		if !ok {
			return errContentRecord
		}
		found.add(o, simhash)
		n++
	}
	return r.wrap(r.it.Error())
}

// close closes the iterator. The next question opens another, which sees what was written since.
func (r *contentReader) close() error {
	if r.it.Iterator == nil {
		return nil
	}
	it := r.it
	r.it = iterator{}
	return r.wrap(it.Close())
}
