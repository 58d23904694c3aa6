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

// mark is a URL's key in the database and where it was met.
type mark [urlKeyLen + 1]byte

// sorter sorts more marks than memory should hold: full chunks are sorted and spilled to files, which are merged at the
// end. It holds at most maxMarks marks (28 MB) and a buffer for each file.
type sorter struct {
	dir   string
	limit int
	chunk []mark
	files []*os.File
}

const maxMarks = 1 << 20

func newSorter(dir string) (*sorter, error) {
	tmp, err := os.MkdirTemp(dir, "audit-")
	if err != nil {
		return nil, err
	}
	return &sorter{dir: tmp, limit: maxMarks}, nil
}

// sweepAudits removes what an audit left whose process was killed.
func sweepAudits(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, "audit-*"))
	for _, name := range left {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

func (s *sorter) add(k urlKey, where byte) error {
	var m mark
	copy(m[:], k[:])
	m[urlKeyLen] = where
	if s.chunk = append(s.chunk, m); len(s.chunk) < s.limit {
		return nil
	}
	return s.spill()
}

func (s *sorter) sortChunk() {
	slices.SortFunc(s.chunk, func(a, b mark) int { return bytes.Compare(a[:], b[:]) })
}

func (s *sorter) spill() error {
	f, err := os.CreateTemp(s.dir, "marks-")
	if err != nil {
		return err
	}
	s.files = append(s.files, f)
	s.sortChunk()
	w := bufio.NewWriterSize(f, 1<<16)
	for i := range s.chunk {
		if _, err := w.Write(s.chunk[i][:]); err != nil {
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

// merged returns the marks in order, one a call; ok is false at the end.
func (s *sorter) merged() (next func() (m mark, ok bool, err error), err error) {
	s.sortChunk()
	h := &markHeap{}
	rest := s.chunk
	sources := []func() (mark, error){func() (m mark, err error) {
		if len(rest) == 0 {
			return m, io.EOF
		}
		m, rest = rest[0], rest[1:]
		return m, nil
	}}
	for _, f := range s.files {
		r := bufio.NewReaderSize(f, 1<<16)
		sources = append(sources, func() (m mark, err error) {
			_, err = io.ReadFull(r, m[:])
			return m, err
		})
	}
	for _, src := range sources {
		if err := h.refill(src); err != nil {
			return nil, err
		}
	}
	return func() (m mark, ok bool, err error) {
		if h.Len() == 0 {
			return m, false, nil
		}
		top := heap.Pop(h).(sourcedMark)
		return top.mark, true, h.refill(top.src)
	}, nil
}

func (s *sorter) close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

type sourcedMark struct {
	mark mark
	src  func() (mark, error)
}

// markHeap has the smallest mark of each source.
type markHeap []sourcedMark

func (h *markHeap) refill(src func() (mark, error)) error {
	m, err := src()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	heap.Push(h, sourcedMark{m, src})
	return nil
}

// Len implements heap.Interface.
func (h markHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h markHeap) Less(i, j int) bool { return bytes.Compare(h[i].mark[:], h[j].mark[:]) < 0 }

// Swap implements heap.Interface.
func (h markHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *markHeap) Push(x any) { *h = append(*h, x.(sourcedMark)) }

// Pop implements heap.Interface.
func (h *markHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
