package deliver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Whole is a file that is made when a crawl has ended, of all that it left: a package of its archive. It is made again
// where records came since. It lies in Dir, or is an object of a bucket.
type Whole struct {
	progress
	part *Part // of the bucket's object, when this process made it
}

func openWhole(ctx context.Context, p progress) (*Whole, error) {
	w := &Whole{progress: p}
	if p.o.To != nil {
		w.free, w.own = w.isFree, func(context.Context) error { return nil }
	}
	if err := w.remember(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("output %s: %w", w.name(), err), w.Close())
	}
	if w.at.In > 0 {
		if there, err := w.isThere(ctx); err != nil || !there {
			return w, errors.Join(err, w.keep(ctx, nil))
		}
	}
	return w, nil
}

func (w *Whole) name() string {
	if w.o.To != nil {
		return w.o.To.Where
	}
	return w.o.File
}

func (w *Whole) isThere(ctx context.Context) (bool, error) {
	if w.o.To == nil {
		_, err := os.Lstat(filepath.Join(w.o.Dir, w.o.File))
		return err == nil, nil
	}
	there, err := w.o.To.Bucket.Keys(ctx, w.o.To.Prefix+w.o.File, 1)
	return len(there) > 0, err
}

// isFree is the error about an object that this crawl has not stored.
func (w *Whole) isFree(ctx context.Context) error {
	there, err := w.isThere(ctx)
	if err == nil && there && !w.o.To.Replace {
		err = ErrOther
	}
	return err
}

// Behind implements File: it is made at the end alone.
func (w *Whole) Behind() bool { return false }

// Step implements File.
func (w *Whole) Step(context.Context) error { return nil }

// Place implements File.
func (w *Whole) Place() Place {
	p := Place{Where: filepath.Join(w.o.Dir, w.o.File), Whole: w.at.In > 0 && w.at.In == w.source.Length(),
		Bytes: w.at.Out}
	if w.o.To != nil {
		p.Where = w.o.To.Where
	}
	if w.at.In > 0 {
		p.Parts = 1
	}
	if w.part != nil {
		p.SHA256 = w.part.SHA256
	}
	return p
}

// Close implements File.
func (w *Whole) Close() error {
	if w.o.To != nil {
		return w.o.To.Bucket.Close()
	}
	return nil
}

// Complete implements File.
func (w *Whole) Complete(ctx context.Context, last bool) error {
	next := mark{In: w.source.Length()}
	if !last || next.In == 0 || w.at.In == next.In {
		return nil
	}
	err := w.source.EachLine(ctx, 0, func(end int64, line []byte) (bool, error) {
		if _, r := w.wanted(&next, line); r != nil {
			next.Rows++
		}
		next.Last, next.Sum = next.In, sumOf(line)
		next.In = end
		return true, nil
	})
	if err == nil {
		err = w.make(ctx, &next)
	}
	if err != nil {
		return fmt.Errorf("output %s: %w", w.name(), err)
	}
	return w.put(ctx, next)
}

func (w *Whole) make(ctx context.Context, next *mark) error {
	if err := os.MkdirAll(w.o.Dir, 0o755); err != nil {
		return err
	}
	file := filepath.Join(w.o.Dir, w.o.File)
	if w.o.To != nil {
		file = filepath.Join(w.o.Dir, "."+w.o.To.Node+filepath.Ext(w.o.File))
		defer func() { _ = os.Remove(file) }()
	}
	if err := w.o.Make(ctx, file); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) { // there was nothing to make it of
		return nil
	}
	if err != nil || w.o.To == nil {
		if err == nil {
			next.Out = info.Size()
		}
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	w.part = &Part{Key: w.o.File}
	err = errors.Join(w.o.To.Bucket.Tidy(ctx, w.o.To.Prefix+w.o.File), sendFile(ctx, w.o.To, f, w.part, waczType))
	next.Out = w.part.Bytes
	return errors.Join(err, f.Close())
}

// waczType is the media type of a package that ReplayWeb.page reads.
const waczType = "application/wacz"
