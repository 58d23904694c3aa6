package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Figures say what became of records.
type Figures struct {
	Seen    int64 `json:"seen"`    // records that were read
	Rows    int64 `json:"rows"`    // that were written
	Skipped int64 `json:"skipped"` // of which the condition is not true, and copies that are left out
	Faults  int64 `json:"faults"`  // of which the condition failed, and damaged lines
}

// mark is a place that the file has reached.
type mark struct {
	In   int64  `json:"in"`   // up to where the records were read
	Out  int64  `json:"out"`  // length of the file
	Last int64  `json:"last"` // where the last line that was read begins
	Sum  uint64 `json:"sum"`  // of that line
	Figures
}

// note says how far a file is.
type note struct {
	File     string `json:"file"`
	Settings string `json:"settings"`
	// Marks are where it is, last, and some of the places before: where the last process was killed, records near the
	// end may have been taken back, and the file goes on before them.
	Marks []mark `json:"marks"`
}

// thinned leaves marks out: those that stay are the further apart, the further back they lie.
func thinned(marks []mark) (out []mark) {
	end, kept := marks[len(marks)-1].In, int64(math.MaxInt64)
	for i := len(marks) - 1; i >= 0; i-- {
		if m := marks[i]; m.In < kept && kept-m.In >= (end-m.In)/3 {
			out, kept = append(out, m), m.In
		}
	}
	slices.Reverse(out)
	return out
}

// sumOf tells lines apart. A line that is marked as replaced is the same one.
func sumOf(line []byte) uint64 { return xxh3.Hash(unmarked(line)) }

// Figures returns what became of the records so far.
func (w *Writer) Figures() Figures { return w.at.Figures }

// Taken is the error about an output whose file is there and not this crawl's; nil: it is free, or ours.
func Taken(ctx context.Context, notes Notes, o *Output) error {
	n, found, err := stored(ctx, notes, o.Note)
	if err != nil || found && n.File == o.File {
		return err
	}
	root, err := os.OpenRoot(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // it was only asked
	info, err := root.Lstat(o.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Size() > 0 || !info.Mode().IsRegular():
		return ErrTaken
	}
	return nil
}

func stored(ctx context.Context, notes Notes, name string) (n note, found bool, err error) {
	text, found, err := notes.Get(ctx, name)
	if err == nil && found {
		if err = json.Unmarshal(text, &n); err != nil {
			err = fmt.Errorf("the note of an output is damaged: %w", err)
		}
	}
	return n, found, err
}

// put notes a place that the file has reached.
func (w *Writer) put(ctx context.Context, m mark) error {
	return w.keep(ctx, thinned(append(slices.Clone(w.marks), m)))
}

// keep makes the last of the marks the place where the file is; none: its beginning.
func (w *Writer) keep(ctx context.Context, marks []mark) error {
	text, err := json.Marshal(&note{w.o.File, w.o.Settings, marks})
	if err == nil {
		err = w.notes.Put(ctx, w.o.Note, text)
	}
	if err != nil {
		return fmt.Errorf("output %s: note how far it is: %w", w.o.File, err)
	}
	w.set(marks)
	return nil
}

func (w *Writer) set(marks []mark) {
	if w.marks, w.at = marks, (mark{}); len(marks) > 0 {
		w.at = marks[len(marks)-1]
	}
}

// begin finds out how far the file is.
func (w *Writer) begin(ctx context.Context) error {
	n, found, err := stored(ctx, w.notes, w.o.Note)
	if err != nil {
		return err
	}
	if !found || n.File != w.o.File {
		if err := Taken(ctx, w.notes, &w.o); err != nil {
			return fmt.Errorf("%s: %w", w.o.File, err)
		}
		n.Marks = nil
	}
	if n.Settings != w.o.Settings {
		n.Marks = nil
	}
	all := len(n.Marks)
	for len(n.Marks) > 0 {
		good, err := w.isOf(ctx, &n.Marks[len(n.Marks)-1])
		if err != nil {
			return err
		}
		if good {
			break
		}
		n.Marks = n.Marks[:len(n.Marks)-1]
	}
	if len(n.Marks) == all && found && n.File == w.o.File && n.Settings == w.o.Settings {
		w.set(n.Marks)
	} else if err := errors.Join(w.claim(), w.keep(ctx, n.Marks)); err != nil { // before the file is touched: it is ours then
		return err
	}
	return w.hold(ctx)
}

// writtenName is a file that names the files beside it which were written for a crawl, a line each: who discards the
// crawl removes them, and nothing else.
const writtenName = ".written"

// claim adds the file to those that were written.
func (w *Writer) claim() error {
	if err := os.MkdirAll(w.o.Dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(w.o.Dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // the file in it is closed
	names, err := root.ReadFile(writtenName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || slices.Contains(strings.Fields(string(names)), w.o.File) {
		return err
	}
	list, err := root.OpenFile(writtenName, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = list.WriteString(w.o.File + "\n")
	return errors.Join(err, list.Sync(), list.Close())
}

// isOf reports whether the records up to a place are those that were read. Records that are taken back close up, so the
// last one stands elsewhere where one before it is gone.
func (w *Writer) isOf(ctx context.Context, m *mark) (same bool, err error) {
	if m.In == 0 {
		return true, nil
	}
	if m.In > w.source.Length() {
		return false, nil
	}
	err = w.source.EachLine(ctx, m.Last, func(next int64, line []byte) (bool, error) {
		same = next == m.In && sumOf(line) == m.Sum
		return false, nil
	})
	return same, err
}

// hold sees to it that the file is there, open, and as long as noted, with its head at least.
func (w *Writer) hold(ctx context.Context) (err error) {
	if w.file != nil {
		if there, err := w.root.Stat(w.o.File); err == nil {
			if mine, err := w.file.Stat(); err == nil && os.SameFile(there, mine) && there.Size() == w.at.Out {
				return nil
			}
		}
		if err := w.Close(); err != nil {
			w.log.Debug("an output that is opened again could not be closed", "file", w.o.File, "error", err)
		}
	}
	if err = w.openFile(); err == nil {
		err = w.fit(ctx)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("output %s: %w", w.o.File, err), w.Close())
	}
	return nil
}

func (w *Writer) openFile() (err error) {
	if err := os.MkdirAll(w.o.Dir, 0o755); err != nil {
		return err
	}
	if w.root, err = os.OpenRoot(w.o.Dir); err != nil { // nothing leads out of it
		return err
	}
	w.file, err = w.root.OpenFile(w.o.File, os.O_RDWR|os.O_CREATE, 0o644)
	return err
}

// fit cuts what is not noted. A file that lacks something begins anew.
func (w *Writer) fit(ctx context.Context) error {
	info, err := w.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no file")
	}
	if info.Size() < w.at.Out {
		w.log.Warn("an output was deleted or cut: it is written anew", "file", w.o.File)
		if err := w.keep(ctx, nil); err != nil {
			return err
		}
	}
	if info.Size() != w.at.Out {
		if err := w.file.Truncate(w.at.Out); err != nil {
			return err
		}
	}
	if w.at.Out > 0 || len(w.rows.Head()) == 0 {
		return nil
	}
	next := w.at
	if err := w.append(w.rows.Head(), &next); err != nil {
		return err
	}
	if dir, err := w.root.Open("."); err == nil { // the name of the file, too, outlasts a power failure
		_, _ = dir.Sync(), dir.Close()
	}
	return w.put(ctx, next)
}
