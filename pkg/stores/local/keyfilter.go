package local

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
)

// keyFilter knows which keys of results (records' places, content) are not in the database, as most are that are asked
// for: a page is new nearly always. Each such look-up would seek in the memtable and in every level. It takes 1 MiB up
// to 170,000 pages, 21 MiB at three million, and 341 MiB at most; beyond 60 million pages it helps less and less.
//
// As with [urlFilter], it is filled in the background when a store is opened, and rules nothing out before.
type keyFilter struct {
	*blockFilter
	complete atomic.Bool
}

func newKeyFilter() *keyFilter { return &keyFilter{blockFilter: newBlockFilter(urlFilterShape)} }

// keyHash takes what a key ends with, which is a part of a SHA-256, and tells kinds and jobs apart.
func keyHash(key []byte) uint64 {
	return binary.BigEndian.Uint64(key[len(key)-8:]) ^ spread(binary.BigEndian.Uint64(key))
}

// note tells of a key that is going to be written. It must be told before.
func (f *keyFilter) note(key []byte) { f.add(keyHash(key)) }

// absent reports that the key surely is not in the database. A key that was deleted may still be taken for one that is.
func (f *keyFilter) absent(key []byte) bool { return f.complete.Load() && !f.mayHave(keyHash(key)) }

// load fills the filter from the database until stop is closed. Keys that are written meanwhile are noted by their
// writers.
func (f *keyFilter) load(s *Store, stop <-chan struct{}) error {
	n := int64(0)
	for _, prefix := range [][]byte{{kindPage}, {kindContent, contentDocument}, {kindContent, contentOriginals}} {
		err := s.scan(context.Background(), prefix, func(key, _ []byte) error {
			select {
			case <-stop:
				return context.Canceled
			default:
			}
			if n++; n > urlFilterShape.capacity() {
				return errTooMany
			}
			if len(key) > 8 {
				f.note(key)
			}
			return nil
		})
		switch {
		case errors.Is(err, errTooMany), errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			return err
		}
	}
	f.complete.Store(true)
	return nil
}
