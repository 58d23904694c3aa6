package wacz

import (
	"bufio"
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// maxRun is how many bytes of lines are sorted in memory.
const maxRun = 32 << 20

// lineSorter sorts lines by their bytes, in runs on disk where they are many.
type lineSorter struct {
	dir   string // of the runs; empty: that of temporary files
	limit int
	lines []string
	size  int
	runs  []*os.File
}

func newLineSorter(dir string) *lineSorter { return &lineSorter{dir: dir, limit: maxRun} }

func (s *lineSorter) add(line string) error {
	s.lines = append(s.lines, line)
	if s.size += len(line); s.size < s.limit {
		return nil
	}
	return s.spill()
}

// spill writes the lines in memory as a run.
func (s *lineSorter) spill() error {
	f, err := os.CreateTemp(s.dir, ".whirlpool-index-*")
	if err != nil {
		return fmt.Errorf("sort the index: %w", err)
	}
	s.runs = append(s.runs, f)
	slices.Sort(s.lines)
	w := bufio.NewWriterSize(f, 256<<10)
	for _, l := range s.lines {
		_, _ = w.WriteString(l) // Flush tells
		_ = w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("sort the index: %w", err)
	}
	s.lines, s.size = nil, 0
	return nil
}

// each hands out all lines in order.
func (s *lineSorter) each(use func(line string) error) error {
	slices.Sort(s.lines)
	h := &runs{}
	for i, f := range s.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("sort the index: %w", err)
		}
		h.all = append(h.all, &run{r: bufio.NewReaderSize(f, 64<<10), number: i})
	}
	memory := &run{lines: s.lines, number: len(s.runs)}
	h.all = append(h.all, memory)
	h.all = slices.DeleteFunc(h.all, func(r *run) bool { return !r.next() && r.err == nil })
	heap.Init(h)
	for len(h.all) > 0 {
		first := h.all[0]
		if first.err != nil {
			return fmt.Errorf("sort the index: %w", first.err)
		}
		if err := use(first.line); err != nil {
			return err
		}
		if first.next() || first.err != nil {
			heap.Fix(h, 0)
		} else {
			heap.Pop(h)
		}
	}
	return nil
}

// close removes the runs.
func (s *lineSorter) close() error {
	errs := make([]error, 0, 2*len(s.runs))
	for _, f := range s.runs {
		errs = append(errs, f.Close(), os.Remove(f.Name()))
	}
	return errors.Join(errs...)
}

// run is sorted lines, of a file or in memory.
type run struct {
	r      *bufio.Reader
	lines  []string
	line   string
	number int
	err    error
}

// next goes to the next line; false: there is none, or err says why it cannot be had.
func (r *run) next() bool {
	if r.r == nil {
		if len(r.lines) == 0 {
			return false
		}
		r.line, r.lines = r.lines[0], r.lines[1:]
		return true
	}
	line, err := r.r.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return false
	}
	if r.err = err; err != nil {
		return false
	}
	r.line = line[:len(line)-1]
	return true
}

// runs is a heap of runs, by their lines; those with an error come first.
type runs struct{ all []*run }

func (h *runs) Len() int { return len(h.all) }
func (h *runs) Less(i, j int) bool {
	a, b := h.all[i], h.all[j]
	if (a.err != nil) != (b.err != nil) {
		return a.err != nil
	}
	return cmp.Or(cmp.Compare(a.line, b.line), a.number-b.number) < 0
}
func (h *runs) Swap(i, j int) { h.all[i], h.all[j] = h.all[j], h.all[i] }
func (h *runs) Push(x any)    { h.all = append(h.all, x.(*run)) }
func (h *runs) Pop() any {
	last := h.all[len(h.all)-1]
	h.all = h.all[:len(h.all)-1]
	return last
}
