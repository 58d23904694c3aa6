package deliver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Source are stored records.
type Source interface {
	// Length is up to where there are some.
	Length() int64
	// EachLine calls use for each line from an offset on, with the offset behind it, until use returns false. A line has
	// no end, and is valid during the call.
	EachLine(ctx context.Context, from int64, use func(next int64, line []byte) (more bool, err error)) error
}

// Notes keep named values, durably.
type Notes interface {
	Get(ctx context.Context, name string) (value []byte, found bool, err error)
	Put(ctx context.Context, name string, value []byte) error
}

// Output says what a file is to hold.
type Output struct {
	Note    string // name of its note
	Dir     string // where the file lies; it is made where it is missing
	File    string // a name, without a directory
	Options export.Options
	// When says which records are written; nil: all. A record of which it fails is not.
	When func(*crawl.Record) (bool, error)
	// Settings are what makes the rows, as one text: where it becomes another, the file is written anew.
	Settings string
}

// What a step takes at most: it ends with the record that passes one of them.
const (
	maxStep = 1 << 20  // bytes of rows
	maxRead = 16 << 20 // bytes of records
)

// Writer writes a file. One goroutine may use it.
type Writer struct {
	o      Output
	source Source
	notes  Notes
	rows   *export.Rows
	log    *slog.Logger
	root   *os.Root // nil: the file is not open
	file   *os.File
	at     mark
	marks  []mark // as noted; the last is at
	buf    []byte
}

// ErrTaken says that a file is there which this crawl has not written.
var ErrTaken = errors.New("there is such a file already, and it is not this crawl's: move it away, or name another one")

// Open prepares the file: a new one, or what an earlier process has left of it. A fault of what is asked for, and a
// file that is somebody else's, are errors; so is a disk that is full.
func Open(ctx context.Context, notes Notes, source Source, o Output, log *slog.Logger) (*Writer, error) {
	rows, err := export.NewRows(o.Options)
	if err != nil {
		return nil, err
	}
	w := &Writer{o: o, source: source, notes: notes, rows: rows, log: log}
	if err := w.begin(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Behind reports whether records wait to be written.
func (w *Writer) Behind() bool { return w.at.In < w.source.Length() }

// Close closes the file.
func (w *Writer) Close() (err error) {
	if w.file != nil {
		err = w.file.Close()
	}
	if w.root != nil {
		err = errors.Join(err, w.root.Close())
	}
	w.file, w.root = nil, nil
	return err
}

// Step writes the rows of the next records, if there are any. After an error, such as of a full disk, call it again.
func (w *Writer) Step(ctx context.Context) error {
	if err := w.hold(ctx); err != nil || !w.Behind() {
		return err
	}
	next := w.at
	w.buf = w.buf[:0]
	err := w.source.EachLine(ctx, next.In, func(end int64, line []byte) (bool, error) {
		if err := w.add(&next, line); err != nil {
			return false, err
		}
		next.Last, next.In, next.Sum = next.In, end, sumOf(line)
		return len(w.buf) < maxStep && next.In-w.at.In < maxRead, nil
	})
	if err != nil {
		return fmt.Errorf("output %s: %w", w.o.File, err)
	}
	if err := w.append(w.buf, &next); err != nil {
		return err
	}
	if cap(w.buf) > 4*maxStep {
		w.buf = nil
	}
	return w.put(ctx, next)
}

// add makes the row of a line.
func (w *Writer) add(n *mark, line []byte) (err error) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil
	}
	line = unmarked(line)
	r, err := jsonl.ParseRecord(line)
	if err != nil { // an audit tells; it has no row
		n.Faults++
		w.log.Warn("a line of the records is damaged and goes to no output", "file", w.o.File, "byte", n.In, "error", err)
		return nil
	}
	n.Seen++
	if w.o.Options.Keep != nil && !w.o.Options.Keep(r) {
		n.Skipped++
		return nil
	}
	if w.o.When != nil {
		yes, err := w.o.When(r)
		if err != nil {
			n.Faults++
			w.log.Warn("the condition of an output failed: the record is not written to it", "file", w.o.File, "url", r.URL, "error", err)
			return nil
		}
		if !yes {
			n.Skipped++
			return nil
		}
	}
	if w.buf, err = w.rows.Append(w.buf, line, r); err != nil {
		return err
	}
	n.Rows++
	return nil
}

// unmarked is a line as it was before a later one replaced it.
func unmarked(line []byte) []byte {
	if jsonl.IsReplaced(line) {
		return jsonl.Unmarked(nil, line)
	}
	return line
}

// append writes rows behind those that are noted, and syncs them.
func (w *Writer) append(rows []byte, n *mark) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := w.file.WriteAt(rows, n.Out)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		_ = w.file.Truncate(n.Out) // readers see whole rows; the next try writes them again
		return fmt.Errorf("output %s: %w", w.o.File, err)
	}
	n.Out += int64(len(rows))
	return nil
}
