package local

import (
	"bufio"
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// sorter sorts more items than memory should hold: full chunks are sorted and spilled to files, which are merged at the
// end. It holds at most limit items and a buffer for each file. T is an array of bytes, and raw returns it as a slice.
type sorter[T any] struct {
	dir   string
	limit int
	raw   func(*T) []byte
	chunk []T
	files []*os.File
}

// sorterBytes is what a sorter holds at most.
const sorterBytes = 28 << 20

func newSorter[T any](dir string, raw func(*T) []byte) (*sorter[T], error) {
	tmp, err := os.MkdirTemp(dir, "audit-")
	if err != nil {
		return nil, err
	}
	return &sorter[T]{dir: tmp, limit: sorterBytes / len(raw(new(T))), raw: raw}, nil
}

// sweepAudits removes what an audit left whose process was killed.
func sweepAudits(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, "audit-*"))
	for _, name := range left {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

func (s *sorter[T]) add(item T) error {
	if s.chunk = append(s.chunk, item); len(s.chunk) < s.limit {
		return nil
	}
	return s.spill()
}

func (s *sorter[T]) sortChunk() {
	slices.SortFunc(s.chunk, func(a, b T) int { return bytes.Compare(s.raw(&a), s.raw(&b)) })
}

func (s *sorter[T]) spill() error {
	f, err := os.CreateTemp(s.dir, "marks-")
	if err != nil {
		return err
	}
	s.files = append(s.files, f)
	s.sortChunk()
	w := bufio.NewWriterSize(f, 1<<16)
	for i := range s.chunk {
		if _, err := w.Write(s.raw(&s.chunk[i])); err != nil {
			return fmt.Errorf("write %s: %w", f.Name(), err)
		}
	}
	s.chunk = s.chunk[:0]
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// merged returns the items in order, one a call; ok is false at the end.
func (s *sorter[T]) merged() (next func() (item T, ok bool, err error), err error) {
	s.sortChunk()
	h := &itemHeap[T]{raw: s.raw}
	rest := s.chunk
	sources := append(make([]func() (T, error), 0, 1+len(s.files)), func() (item T, err error) {
		if len(rest) == 0 {
			return item, io.EOF
		}
		item, rest = rest[0], rest[1:]
		return item, nil
	})
	for _, f := range s.files {
		r := bufio.NewReaderSize(f, 1<<16)
		sources = append(sources, func() (item T, err error) {
			_, err = io.ReadFull(r, s.raw(&item))
			return item, err
		})
	}
	for _, src := range sources {
		if err := h.refill(src); err != nil {
			return nil, err
		}
	}
	return func() (item T, ok bool, err error) {
		if h.Len() == 0 {
			return item, false, nil
		}
		top := heap.Pop(h).(sourced[T])
		return top.item, true, h.refill(top.src)
	}, nil
}

func (s *sorter[T]) close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

type sourced[T any] struct {
	item T
	src  func() (T, error)
}

// itemHeap has the smallest item of each source.
type itemHeap[T any] struct {
	raw   func(*T) []byte
	items []sourced[T]
}

func (h *itemHeap[T]) refill(src func() (T, error)) error {
	item, err := src()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	heap.Push(h, sourced[T]{item, src})
	return nil
}

// Len implements heap.Interface.
func (h *itemHeap[T]) Len() int { return len(h.items) }

// Less implements heap.Interface.
func (h *itemHeap[T]) Less(i, j int) bool {
	return bytes.Compare(h.raw(&h.items[i].item), h.raw(&h.items[j].item)) < 0
}

// Swap implements heap.Interface.
func (h *itemHeap[T]) Swap(i, j int) { h.items[i], h.items[j] = h.items[j], h.items[i] }

// Push implements heap.Interface.
func (h *itemHeap[T]) Push(x any) { h.items = append(h.items, x.(sourced[T])) }

// Pop implements heap.Interface.
func (h *itemHeap[T]) Pop() any {
	last := h.items[len(h.items)-1]
	h.items = h.items[:len(h.items)-1]
	return last
}
