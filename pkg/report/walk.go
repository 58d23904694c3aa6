package report

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// walk goes through a sorted stream of a store one entry at a time, so that several can be walked side by side in
// memory that does not grow with them.
type walk[T any] struct {
	name string
	next func() (item[T], bool)
	stop func()
	err  error // of the store

	key   weburl.Key
	value T
	more  bool // key and value are an entry; else the stream has ended
}

type item[T any] struct {
	key   weburl.Key
	value T
}

// errWalkStopped ends a walk through a store before its end.
var errWalkStopped = errors.New("the walk was stopped")

// startWalk walks what each hands out, to its first entry. Call close.
func startWalk[T any](name string, each func(yield func(weburl.Key, T) error) error) (*walk[T], error) {
	w := &walk[T]{name: name}
	var seq iter.Seq[item[T]] = func(yield func(item[T]) bool) {
		err := each(func(k weburl.Key, v T) error {
			if !yield(item[T]{k, v}) {
				return errWalkStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errWalkStopped) {
			w.err = err
		}
	}
	w.next, w.stop = iter.Pull(seq)
	err := w.advance(true)
	return w, err
}

func (w *walk[T]) close() { w.stop() }

// advance goes to the next entry. A stream that is out of order, or has a key twice, is an error: what is merged from
// it would be wrong.
func (w *walk[T]) advance(first bool) error {
	it, more := w.next()
	if w.err != nil {
		return w.err
	}
	if more && !first && bytes.Compare(it.key[:], w.key[:]) <= 0 {
		return fmt.Errorf("%s come out of order or twice: %s after %s", w.name, it.key, w.key)
	}
	w.key, w.value, w.more = it.key, it.value, more
	return nil
}

// take returns the entry under a key, and goes on behind it; nil if the stream is not there.
func (w *walk[T]) take(k weburl.Key) (*T, error) {
	if !w.more || w.key != k {
		return nil, nil
	}
	v := w.value
	return &v, w.advance(false)
}

// position is where a walk stands.
type position struct {
	key  weburl.Key
	more bool
}

func (w *walk[T]) at() position { return position{w.key, w.more} }

// least is the smallest key at which a walk stands; false where all have ended.
func least(at ...position) (k weburl.Key, found bool) {
	for _, p := range at {
		if p.more && (!found || bytes.Compare(p.key[:], k[:]) < 0) {
			k, found = p.key, true
		}
	}
	return k, found
}
