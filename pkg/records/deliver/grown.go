package deliver

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// begin finds out how far the file is, and opens it.
func (w *Writer) begin(ctx context.Context) error {
	if err := w.remember(ctx); err != nil {
		return err
	}
	return w.hold(ctx)
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
	_ = system.SyncRoot(w.root) // the name of the file, too, outlasts a power failure
	return w.put(ctx, next)
}
