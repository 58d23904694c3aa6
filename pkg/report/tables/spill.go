package tables

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// spill sorts more rows than memory should hold. A row is a sequence of bytes; rows are compared as bytes. Full chunks
// are sorted and written to files, which are merged at the end.
type spill struct {
	dir   string // where files are made; "": the system's
	limit int    // bytes of rows in memory
	rows  [][]byte
	held  int
	block []byte // rows are cut from it
	files []*os.File
}

const (
	spillBytes = 48 << 20 // of rows in memory, without the 24 bytes of each slice
	spillBlock = 1 << 20
	maxRow     = 1 << 20
)

// spillLimit is spillBytes, but in tests.
var spillLimit = spillBytes

func newSpill(dir string) *spill { return &spill{dir: dir, limit: spillLimit} }

// add takes a copy of a row.
func (s *spill) add(row []byte) error {
	if len(row) > maxRow {
		return fmt.Errorf("a row has %d bytes", len(row))
	}
	if cap(s.block)-len(s.block) < len(row) {
		s.block = make([]byte, 0, max(spillBlock, len(row)))
	}
	at := len(s.block)
	s.block = append(s.block, row...)
	s.rows, s.held = append(s.rows, s.block[at:len(s.block):len(s.block)]), s.held+len(row)+24
	if s.held < s.limit {
		return nil
	}
	return s.write()
}

// write moves what is in memory to a file.
func (s *spill) write() error {
	f, err := os.CreateTemp(s.dir, "whirlpool-report-")
	if err != nil {
		return err
	}
	s.files = append(s.files, f)
	if err := os.Remove(f.Name()); err != nil { // it is gone with the process, however that ends
		return err
	}
	slices.SortFunc(s.rows, bytes.Compare)
	w := bufio.NewWriterSize(f, 1<<16)
	for _, row := range s.rows {
		_, _ = w.Write(binary.AppendUvarint(w.AvailableBuffer(), uint64(len(row))))
		_, _ = w.Write(row) // a bufio.Writer's error stays
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("sort rows of a report: %w", err)
	}
	s.rows, s.held, s.block = nil, 0, nil
	return nil
}

// each calls use for every row in order. A row is valid during the call.
func (s *spill) each(use func(row []byte) error) error {
	slices.SortFunc(s.rows, bytes.Compare)
	h := runs{{rows: s.rows}}
	for _, f := range s.files {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		h = append(h, &run{file: bufio.NewReaderSize(f, 1<<16)})
	}
	live := h[:0]
	for _, r := range h {
		more, err := r.next()
		if err != nil {
			return err
		}
		if more {
			live = append(live, r)
		}
	}
	h = live
	for heap.Init(&h); len(h) > 0; {
		if err := use(h[0].row); err != nil {
			return err
		}
		more, err := h[0].next()
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(&h, 0)
		default:
			heap.Pop(&h)
		}
	}
	return nil
}

func (s *spill) close() (err error) {
	for _, f := range s.files {
		err = errors.Join(err, f.Close())
	}
	s.files, s.rows, s.block = nil, nil, nil
	return err
}

// run is a sorted part: in memory, or in a file.
type run struct {
	rows [][]byte
	file *bufio.Reader
	row  []byte
}

func (r *run) next() (more bool, err error) {
	if r.file == nil {
		if len(r.rows) == 0 {
			return false, nil
		}
		r.row, r.rows = r.rows[0], r.rows[1:]
		return true, nil
	}
	n, err := binary.ReadUvarint(r.file)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil || n > maxRow {
		return false, fmt.Errorf("read back the rows of a report: %w", err)
	}
	r.row = slices.Grow(r.row[:0], int(n))[:n]
	if _, err := io.ReadFull(r.file, r.row); err != nil {
		return false, fmt.Errorf("read back the rows of a report: %w", err)
	}
	return true, nil
}

type runs []*run

// Len implements heap.Interface.
func (r runs) Len() int { return len(r) }

// Less implements heap.Interface.
func (r runs) Less(i, j int) bool { return bytes.Compare(r[i].row, r[j].row) < 0 }

// Swap implements heap.Interface.
func (r runs) Swap(i, j int) { r[i], r[j] = r[j], r[i] }

// Push implements heap.Interface; nothing is pushed.
func (r *runs) Push(any) {}

// Pop implements heap.Interface.
func (r *runs) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
