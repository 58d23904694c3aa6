package local

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
)

// urlFilter knows which URLs have no entry yet, as most claimed URLs do; the database is not asked for them. It takes 1
// MiB up to half a million URLs, 21 MiB at ten million, 85 at 45 and 341 MiB at most. Beyond 180 million entries it
// helps less and less.
//
// When a store is opened that holds URLs, the filter is filled in the background. Until then, and always if there are
// too many, it says of every URL that there may be an entry.
type urlFilter struct {
	*blockFilter
	complete atomic.Bool
}

var urlFilterShape = filterShape{firstLog: 17, nextLog: 2, layers: 5, entriesPerWord: 4}

func newURLFilter() *urlFilter { return &urlFilter{blockFilter: newBlockFilter(urlFilterShape)} }

// hash is the part of the key that is the URL's alone, told apart by job.
func (k *urlKey) hash() uint64 {
	job := uint64(binary.BigEndian.Uint32(k[1:])) * 0x9e3779b97f4a7c15
	return binary.BigEndian.Uint64(k[jobEnd+8:]) ^ job
}

var errTooMany = errors.New("more URLs than the filter takes")

// load fills the filter from the database until stop is closed. Entries that are written meanwhile are added by their
// writers.
func (f *urlFilter) load(s *Store, stop <-chan struct{}) error {
	n := int64(0)
	err := s.scan(context.Background(), []byte{kindURL}, func(key, _ []byte) error {
		select {
		case <-stop:
			return context.Canceled
		default:
		}
		if n++; n > urlFilterShape.capacity() {
			return errTooMany
		}
		if len(key) == urlKeyLen {
			k := urlKey(key)
			f.add(k.hash())
		}
		return nil
	})
	switch {
	case err == nil:
		f.complete.Store(true)
	case errors.Is(err, errTooMany), errors.Is(err, context.Canceled):
		return nil
	}
	return err
}
