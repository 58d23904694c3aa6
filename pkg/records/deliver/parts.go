package deliver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
)

// Bounds of a part.
const (
	partBytes = 128 << 20 // of records
	partAge   = 5 * time.Minute
)

func (w *progress) partBytes() int64 {
	if w.o.PartBytes > 0 {
		return w.o.PartBytes
	}
	return partBytes
}

func (w *progress) partAge() time.Duration {
	if w.o.PartAge > 0 {
		return w.o.PartAge
	}
	return partAge
}

// Parts writes a table that cannot grow as files that are whole, one after the other: NAME-000001.parquet and so on. A
// part has another name until it is whole. The note says how many there are (mark.Out) and up to where they hold the
// records; what a killed process read beyond that is read again.
type Parts struct {
	progress
	root  *os.Root
	file  *os.File // the part that is not whole yet; nil: none
	table *export.Table
	next  mark // up to where the part holds the records
	begun time.Time
}

func openParts(ctx context.Context, p progress) (*Parts, error) {
	w := &Parts{progress: p}
	err := w.remember(ctx)
	if err == nil {
		err = w.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("output %s: %w", w.o.File, err), w.Close())
	}
	return w, nil
}

// prepare opens the directory, which may have been deleted meanwhile.
func (w *Parts) prepare(ctx context.Context) (err error) {
	if w.root != nil {
		_ = w.root.Close()
	}
	if err := os.MkdirAll(w.o.Dir, 0o755); err != nil {
		return err
	}
	if w.root, err = os.OpenRoot(w.o.Dir); err != nil { // nothing leads out of it
		return err
	}
	return w.fit(ctx)
}

// fit removes the parts that are not noted. Where one that is noted is missing, all are written anew.
func (w *Parts) fit(ctx context.Context) error {
	for n := int64(1); n <= w.at.Out; n++ {
		if info, err := w.root.Lstat(partName(w.o.File, n)); err == nil && info.Mode().IsRegular() {
			continue
		}
		w.log.Warn("a part of an output was deleted: all are written anew", "file", partName(w.o.File, n))
		if err := w.keep(ctx, nil); err != nil {
			return err
		}
	}
	w.next = w.at
	ours, err := claimed(w.root)
	if err != nil {
		return err
	}
	names, err := partsIn(w.root, w.o.File)
	for _, name := range names {
		if err == nil && name > partName(w.o.File, w.at.Out) && slices.Contains(ours, name) {
			err = w.root.Remove(name)
		}
	}
	return err
}

// Place implements File.
func (w *Parts) Place() Place {
	end := path.Ext(w.o.File)
	return Place{Where: filepath.Join(w.o.Dir, strings.TrimSuffix(w.o.File, end)+"-*"+end), Parts: w.at.Out,
		Whole: w.at.In >= w.source.Length()}
}

// Behind implements File.
func (w *Parts) Behind() bool { return w.next.In < w.source.Length() }

// Figures implements File.
func (w *Parts) Figures() Figures { return w.next.Figures }

// Close implements File.
func (w *Parts) Close() error {
	err := w.discard()
	if w.root != nil {
		err = errors.Join(err, w.root.Close())
	}
	w.root = nil
	return err
}

// unfinished is the name of a part that is not whole.
func (w *Parts) unfinished() string { return "." + w.o.File + ".part" }

// discard lets go what is not whole.
func (w *Parts) discard() (err error) {
	w.next = w.at
	if w.file == nil {
		return nil
	}
	err = w.file.Close()
	w.file, w.table = nil, nil
	if gone := w.root.Remove(w.unfinished()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
