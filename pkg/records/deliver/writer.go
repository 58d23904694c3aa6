package deliver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
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
	// PartBytes is how many bytes of records a part of a file that cannot grow is made of, about; 0: 128 MiB.
	PartBytes int64
	// PartAge is after how long a part is made whole though it is small; 0: five minutes.
	PartAge time.Duration
	// To is where rows go instead of into Dir; nil: there.
	To *Remote
	// Make makes the whole file at the end, of which rows are no part; nil: it is made of rows.
	Make func(ctx context.Context, file string) error
}

// What a step takes at most: it ends with the record that passes one of them.
const (
	maxStep = 1 << 20  // bytes of rows
	maxRead = 16 << 20 // bytes of records
)

// File is what an output writes: a Writer, or Parts. One goroutine may use it.
type File interface {
	// Behind reports whether records wait to be read.
	Behind() bool
	// Step writes the rows of the next records, if there are any. After an error, such as of a full disk, call it again.
	Step(ctx context.Context) error
	// Complete makes what was read so far a whole file, on the disk; with last nothing more comes.
	Complete(ctx context.Context, last bool) error
	// Place says where it is, and how much of it there is.
	Place() Place
	// Figures returns what became of the records so far.
	Figures() Figures
	// Close closes the file. What is not complete is read again by the next process.
	Close() error
}

// Place is where an output is, and how much of it there is.
type Place struct {
	// of the whole: a file, s3://BUCKET/PREFIX, a table, an address without its secrets
	Where string `json:"where"`
	// that are whole
	Parts int64 `json:"parts,omitempty"`
	// of all parts; 0: it is not known
	Bytes int64 `json:"bytes,omitempty"`
	// of the manifest, in hex; empty: there is none
	SHA256 string `json:"sha256,omitempty"`
	// nothing is missing of what was stored so far
	Whole bool `json:"whole"`
}

// Open prepares a file: a new one, or what an earlier process has left of it. A fault of what is asked for, and a
// file that is somebody else's, are errors; so is a disk that is full.
func Open(ctx context.Context, notes Notes, source Source, o Output, log *slog.Logger) (File, error) {
	if err := Check(&o); err != nil {
		return nil, err
	}
	p := progress{o: o, source: source, notes: notes, log: log}
	switch {
	case o.To != nil && o.To.Receiver != nil:
		return opened(openBatches(ctx, p))
	case o.Make != nil:
		return opened(openWhole(ctx, p))
	case o.To != nil:
		return opened(openObjects(ctx, p))
	case o.Options.Format.Grows():
		return opened(openWriter(ctx, p))
	}
	return opened(openParts(ctx, p))
}

// opened is no File where there is an error.
func opened[F File](f F, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Check finds what is wrong with what is asked for, without looking at any file.
func Check(o *Output) error {
	if o.Make != nil {
		return nil
	}
	_, err := export.NewTable(io.Discard, o.Options)
	return err
}

// Writer writes a file that grows.
type Writer struct {
	progress
	rows *export.Rows
	root *os.Root // nil: the file is not open
	file *os.File
	buf  []byte
}

func openWriter(ctx context.Context, p progress) (*Writer, error) {
	rows, err := export.NewRows(p.o.Options)
	if err != nil {
		return nil, err
	}
	w := &Writer{progress: p, rows: rows}
	if err := w.begin(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Behind implements File.
func (w *Writer) Behind() bool { return w.at.In < w.source.Length() }

// Complete implements File: what was read is on the disk already.
func (w *Writer) Complete(context.Context, bool) error { return nil }

// Place implements File.
func (w *Writer) Place() Place {
	return Place{Where: filepath.Join(w.o.Dir, w.o.File), Parts: 1, Bytes: w.at.Out, Whole: !w.Behind()}
}

// Close implements File.
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

// Step implements File.
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
func (w *Writer) add(n *mark, line []byte) error {
	line, r := w.wanted(n, line)
	if r == nil {
		return nil
	}
	var err error
	if w.buf, err = w.rows.Append(w.buf, line, r); err == nil {
		n.Rows++
	}
	return err
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
