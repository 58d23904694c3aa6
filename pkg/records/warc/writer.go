package warc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// ErrClosed is returned by Write after Close.
var ErrClosed = errors.New("the archive is closed")

// Writer appends exchanges to the WARC files of a directory. It may be used by many goroutines at once.
type Writer struct {
	dir      string
	opt      Options
	encoders sync.Pool
	recent   *recent
	stop     chan struct{}
	stopped  chan struct{}

	mu     sync.Mutex
	file   *file // nil between files
	info   int64 // size of its warcinfo record
	serial int
	dirty  bool  // something was written since the last sync
	err    error // what makes further writing pointless
}

var _ crawl.Archive = (*Writer)(nil)

// Open opens the archive in dir, which it makes if need be, after finishing what a killed process left there. The first
// file begins with the first exchange.
func Open(dir string, opt Options) (*Writer, error) {
	if err := opt.Validate(); err != nil {
		return nil, fmt.Errorf("open archive %s: %w", dir, err)
	}
	opt = opt.withDefaults()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	if err := recoverDir(dir, opt.Log); err != nil {
		return nil, fmt.Errorf("open archive %s: %w", dir, err)
	}
	w := &Writer{dir: dir, opt: opt, recent: newRecent(opt.Remember), stop: make(chan struct{}),
		stopped: make(chan struct{})}
	go w.syncEvery(opt.SyncEvery)
	return w, nil
}

// Write implements crawl.Archive. When it returns, the exchange survives the process; the machine, after the next sync.
// After an error nothing of the exchange is in the files, or what is there is cut off by the next Open. Write may be
// tried again (a full disk may have room by then), but after ErrClosed, a failed sync or a half record that could not
// be taken back it always fails.
func (w *Writer) Write(ctx context.Context, x *crawl.Exchange) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.write(x); err != nil {
		return fmt.Errorf("archive %s: %w", x.URL, err)
	}
	return nil
}

func (w *Writer) write(x *crawl.Exchange) error {
	if x.URL.IsZero() || x.Status == "" && len(x.Refers) == 0 {
		return crawl.Permanent(errors.New("an exchange without URL or status"))
	}
	e, err := w.encoder()
	if err != nil {
		return err
	}
	defer w.keep(e)
	digest := payloadDigest(x)
	if len(x.Refers) > 0 {
		if err := e.conversion(x, digest); err != nil {
			return err
		}
		return w.append(e.out)
	}
	orig := w.recent.lookup(x, digest)
	c, err := e.exchange(x, digest, orig)
	if err != nil {
		return err
	}
	if err := w.append(e.out); err != nil {
		return err
	}
	if orig == nil {
		w.recent.remember(x, digest, c)
	}
	return nil
}

func (w *Writer) encoder() (*encoder, error) {
	if e, ok := w.encoders.Get().(*encoder); ok {
		return e, nil
	}
	return newEncoder(w.opt.Level)
}

// keep keeps e for the next caller, unless a huge body made it huge.
func (w *Writer) keep(e *encoder) {
	if cap(e.out) <= 1<<20 {
		e.out = e.out[:0]
		w.encoders.Put(e)
	}
}

// append appends a group of records to the current file, or to a new one when the current would grow too long.
func (w *Writer) append(group []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.file != nil && w.file.size > w.info && w.file.size+int64(len(group)) > w.opt.MaxSize {
		if err := w.finish(); err != nil {
			return err
		}
	}
	if w.file == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	w.dirty = true
	return w.failing(w.file.append(group))
}

// begin makes a new file with its warcinfo record.
func (w *Writer) begin() error {
	f, err := createFile(w.dir, w.opt, &w.serial)
	if err != nil {
		return err
	}
	if err := w.introduce(f); err != nil {
		return errors.Join(err, os.Remove(f.Name()), f.Close()) // it holds nothing
	}
	w.file, w.info = f, f.size
	return nil
}

func (w *Writer) introduce(f *file) error {
	e, err := w.encoder()
	if err != nil {
		return err
	}
	defer w.keep(e)
	if err := e.record(w.opt.warcinfo(filepath.Base(f.final))); err != nil {
		return err
	}
	return f.append(e.out)
}

// finish ends the current file. After a failed sync the state of the disk is unknown: the writer gives up.
func (w *Writer) finish() error {
	f := w.file
	w.file, w.dirty = nil, false
	if err := f.finish(); err != nil {
		return w.failing(&brokenError{fmt.Errorf("finish %s: %w", f.final, err)})
	}
	return nil
}

// failing remembers an error that makes further writing pointless.
func (w *Writer) failing(err error) error {
	var broken *brokenError
	if errors.As(err, &broken) {
		w.err = err
	}
	return err
}

// syncEvery brings the file to the disk at every tick.
func (w *Writer) syncEvery(interval time.Duration) {
	defer close(w.stopped)
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-t.C:
			w.sync()
		}
	}
}

// sync does not hold the lock while the disk works: writers go on.
func (w *Writer) sync() {
	w.mu.Lock()
	f, dirty := w.file, w.dirty
	w.dirty = false
	w.mu.Unlock()
	if f == nil || !dirty {
		return
	}
	if err := f.Sync(); err != nil && !errors.Is(err, os.ErrClosed) { // finish synced and closed it meanwhile
		w.mu.Lock()
		defer w.mu.Unlock()
		_ = w.failing(&brokenError{fmt.Errorf("sync %s: %w", f.Name(), err)})
		w.opt.Log.Error("the archive can no longer be written", "file", f.Name(), "error", err)
	}
}

// Close finishes the current file. Closing twice is no error.
func (w *Writer) Close() error {
	w.mu.Lock()
	failed := w.err
	if errors.Is(failed, ErrClosed) {
		w.mu.Unlock()
		return nil
	}
	w.err = ErrClosed
	f := w.file
	w.file = nil
	w.mu.Unlock()

	close(w.stop)
	<-w.stopped
	switch {
	case f == nil:
		return failed
	case failed != nil: // what the file holds is uncertain: the next Open looks
		return errors.Join(failed, f.Close())
	}
	if err := f.finish(); err != nil {
		return fmt.Errorf("close archive: finish %s: %w", f.final, err)
	}
	return nil
}
