package deliver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// Step implements File.
func (w *Parts) Step(ctx context.Context) error {
	if w.file == nil && !w.Behind() {
		return nil
	}
	err := w.begin(ctx)
	if err == nil {
		err = w.addTo(ctx, w.table, &w.next, w.full)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("output %s: %w", w.o.File, err), w.discard())
	}
	if !w.full() && time.Since(w.begun) < w.partAge() {
		return nil
	}
	return w.Complete(ctx, false)
}

// full reports whether the part holds as much as a part should.
func (w *Parts) full() bool {
	return w.next.In-w.at.In >= w.partBytes()
}

// begin begins a part, unless one is begun.
func (w *Parts) begin(ctx context.Context) error {
	if w.file != nil {
		return nil
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	part := partName(w.o.File, w.at.Out+1)
	if _, err := w.root.Lstat(part); err == nil { // all that are ours were removed
		return fmt.Errorf("%s: %w", part, ErrTaken)
	}
	if err := errors.Join(w.claim(w.unfinished()), w.claim(part)); err != nil {
		return err
	}
	err := w.root.Remove(w.unfinished()) // a killed process left it
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		w.file, err = w.root.OpenFile(w.unfinished(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	}
	if err != nil {
		return err
	}
	w.begun = time.Now()
	w.table, err = export.NewTable(w.file, w.o.Options)
	return err
}

// Complete implements File.
func (w *Parts) Complete(ctx context.Context, _ bool) error {
	if w.file == nil || w.next.In == w.at.In {
		return w.discard()
	}
	next := w.next
	if err := w.finish(&next); err != nil {
		return errors.Join(fmt.Errorf("output %s: %w", w.o.File, err), w.discard())
	}
	err := w.put(ctx, next) // after an error the part is written again, under the same name
	w.next = w.at
	return err
}

// finish gives a part its name, when it is whole and on the disk. One without rows has none.
func (w *Parts) finish(next *mark) error {
	if err := w.table.Close(); err != nil {
		return err
	}
	err := errors.Join(w.file.Sync(), w.file.Close())
	w.file, w.table = nil, nil
	if err != nil {
		return err
	}
	if next.Rows == w.at.Rows {
		return w.root.Remove(w.unfinished())
	}
	next.Out++
	if err := w.root.Rename(w.unfinished(), partName(w.o.File, next.Out)); err != nil {
		return err
	}
	return system.SyncRoot(w.root)
}
