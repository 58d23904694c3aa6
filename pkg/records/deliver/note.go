package deliver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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
	// Pending is up to where the records go that are being sent: what is sent again is the same; 0: none are.
	Pending int64 `json:"pending,omitempty"`
}

// progress is how far an output is, and what it reads.
type progress struct {
	o      Output
	source Source
	notes  Notes
	log    *slog.Logger
	at     mark
	marks  []mark // as noted; the last is at
	// pending is up to where the records go that are being sent, as noted.
	pending int64
	// free is the error about a place that is somebody else's, and own makes it this crawl's; nil: those of files.
	free func(ctx context.Context) error
	own  func(ctx context.Context) error
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
func (w *progress) Figures() Figures { return w.at.Figures }

func stored(ctx context.Context, notes Notes, name string) (n note, found bool, err error) {
	text, found, err := notes.Get(ctx, name)
	if err == nil && found {
		if err = json.Unmarshal(text, &n); err != nil {
			err = fmt.Errorf("the note of an output is damaged: %w", err)
		}
	}
	return n, found, err
}

// AtRest tells how far an output is that nobody writes: its rows, and whether records up to an end are not delivered.
func AtRest(ctx context.Context, notes Notes, o *Output, end int64) (rows int64, behind bool, err error) {
	n, found, err := stored(ctx, notes, o.Note)
	if err != nil || !found || len(n.Marks) == 0 || n.Settings != o.Settings {
		return 0, end > 0, err
	}
	at := n.Marks[len(n.Marks)-1]
	return at.Rows, at.In < end, nil
}

// put notes a place that the file has reached.
func (w *progress) put(ctx context.Context, m mark) error {
	return w.keep(ctx, thinned(append(slices.Clone(w.marks), m)))
}

// keep makes the last of the marks the place where the file is; none: its beginning.
func (w *progress) keep(ctx context.Context, marks []mark) error {
	if err := w.write(ctx, note{File: w.o.File, Settings: w.o.Settings, Marks: marks}); err != nil {
		return err
	}
	w.set(marks)
	w.pending = 0
	return nil
}

// intend notes up to where the records go that are about to be sent.
func (w *progress) intend(ctx context.Context, in int64) error {
	if w.pending == in {
		return nil
	}
	err := w.write(ctx, note{File: w.o.File, Settings: w.o.Settings, Marks: w.marks, Pending: in})
	if err == nil {
		w.pending = in
	}
	return err
}

func (w *progress) write(ctx context.Context, n note) error {
	text, err := json.Marshal(&n)
	if err == nil {
		err = w.notes.Put(ctx, w.o.Note, text)
	}
	if err != nil {
		return fmt.Errorf("output %s: note how far it is: %w", w.o.File, err)
	}
	return nil
}

func (w *progress) set(marks []mark) {
	if w.marks, w.at = marks, (mark{}); len(marks) > 0 {
		w.at = marks[len(marks)-1]
	}
}

// remember finds out how far the file is, and makes it this crawl's before it is touched.
func (w *progress) remember(ctx context.Context) error {
	n, found, err := stored(ctx, w.notes, w.o.Note)
	if err != nil {
		return err
	}
	if !found || n.File != w.o.File {
		if err := w.isFree(ctx); err != nil {
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
		w.pending = n.Pending
		return nil
	}
	return errors.Join(w.take(ctx), w.keep(ctx, n.Marks))
}

func (w *progress) isFree(ctx context.Context) error {
	if w.free != nil {
		return w.free(ctx)
	}
	return Taken(ctx, w.notes, &w.o)
}

func (w *progress) take(ctx context.Context) error {
	if w.own != nil {
		return w.own(ctx)
	}
	return w.claim(w.o.File)
}

// writtenName is a file that names the files beside it which were written for a crawl, a line each: who discards the
// crawl removes them, and nothing else.
const writtenName = ".written"

// claimed are the files that were written.
func claimed(root *os.Root) ([]string, error) {
	names, err := root.ReadFile(writtenName)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.Fields(string(names)), err
}

// claim adds a file to those that were written.
func (w *progress) claim(file string) error {
	if err := os.MkdirAll(w.o.Dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(w.o.Dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // the file in it is closed
	names, err := claimed(root)
	if err != nil || slices.Contains(names, file) {
		return err
	}
	list, err := root.OpenFile(writtenName, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = list.WriteString(file + "\n")
	return errors.Join(err, list.Sync(), list.Close())
}

// isOf reports whether the records up to a place are those that were read. Records that are taken back close up, so the
// last one stands elsewhere where one before it is gone.
func (w *progress) isOf(ctx context.Context, m *mark) (same bool, err error) {
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
