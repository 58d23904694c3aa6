package local

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// database is the Pebble database of a store. It counts who reads: Pebble panics when it is closed beside a reader, and
// when it is read after. Readers that come while it closes get errClosed.
type database struct {
	*pebble.DB
	readers atomic.Int64  // and closing, once Close was called
	idle    chan struct{} // the last reader is gone
}

const (
	closing = int64(1) << 40
	// readersTime is how long Close waits for readers. It is more than an answer takes; an audit may take longer.
	readersTime = 30 * time.Second
)

var (
	errClosed  = errors.New("the store is closed")
	errReaders = errors.New("the state is still read: it is left open; nothing is lost")
)

func newDatabase(db *pebble.DB) *database { return &database{DB: db, idle: make(chan struct{}, 1)} }

func (d *database) enter() error {
	if d.readers.Add(1) > closing {
		d.leave()
		return errClosed
	}
	return nil
}

func (d *database) leave() {
	if d.readers.Add(-1) == closing {
		select {
		case d.idle <- struct{}{}:
		default:
		}
	}
}

// Close waits for the readers. Where one takes longer than patience, the database stays open, and errReaders is
// returned.
func (d *database) Close(patience time.Duration) error {
	if d.readers.Add(closing) > closing {
		late := time.NewTimer(patience)
		defer late.Stop()
		select {
		case <-d.idle:
		case <-late.C:
			return errReaders
		}
	}
	return d.DB.Close()
}

// iterator is an iterator of Pebble that is counted until it is closed.
type iterator struct {
	*pebble.Iterator
	of *database
}

// Close closes the iterator. Call it once.
func (it iterator) Close() error {
	defer it.of.leave()
	return it.Iterator.Close()
}

// opened counts an iterator that open opens.
func (d *database) opened(open func() (*pebble.Iterator, error)) (iterator, error) {
	if err := d.enter(); err != nil {
		return iterator{}, err
	}
	it, err := open()
	if err != nil {
		d.leave()
		return iterator{}, err
	}
	return iterator{it, d}, nil
}

// NewIter returns an iterator over what is stored now.
func (d *database) NewIter(o *pebble.IterOptions) (iterator, error) {
	return d.opened(func() (*pebble.Iterator, error) { return d.DB.NewIter(o) })
}

// NewIterWithContext returns an iterator over what is stored now.
func (d *database) NewIterWithContext(ctx context.Context, o *pebble.IterOptions) (iterator, error) {
	return d.opened(func() (*pebble.Iterator, error) { return d.DB.NewIterWithContext(ctx, o) })
}

// Get reads a key into use while the value lasts. It looks from the newest level down and ends with the first that has
// the key; an iterator moves in all of them. It never asks the filters of the lowest level.
func (d *database) Get(key []byte, use func(value []byte) error) (found bool, err error) {
	if err := d.enter(); err != nil {
		return false, err
	}
	defer d.leave()
	value, held, err := d.DB.Get(key)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	err = use(value)
	return err == nil, errors.Join(err, held.Close())
}

// snapshot is what was stored at one moment. Close it.
type snapshot struct {
	*pebble.Snapshot
	of *database
}

// NewSnapshot returns what is stored now.
func (d *database) NewSnapshot() (snapshot, error) {
	if err := d.enter(); err != nil {
		return snapshot{}, err
	}
	return snapshot{d.DB.NewSnapshot(), d}, nil
}

// Close gives the snapshot back. Call it once.
func (s snapshot) Close() error {
	defer s.of.leave()
	return s.Snapshot.Close()
}

// NewIter returns an iterator over the snapshot.
func (s snapshot) NewIter(o *pebble.IterOptions) (iterator, error) {
	return s.of.opened(func() (*pebble.Iterator, error) { return s.Snapshot.NewIter(o) })
}

// NewIterWithContext returns an iterator over the snapshot.
func (s snapshot) NewIterWithContext(ctx context.Context, o *pebble.IterOptions) (iterator, error) {
	return s.of.opened(func() (*pebble.Iterator, error) { return s.Snapshot.NewIterWithContext(ctx, o) })
}

// source is what can be read: a database or a snapshot.
type source interface {
	NewIterWithContext(ctx context.Context, o *pebble.IterOptions) (iterator, error)
}
