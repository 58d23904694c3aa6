package local

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// walFS makes a commit mean "written to the operating system" rather than "on the platter". Pebble has two kinds of
// commits. NoSync keeps the log in the process, so killing it loses acknowledged work. Sync costs an fsync each (0.4 ms
// here, against 6 µs for the write). With this file system a Sync commit writes the log, and syncAll calls fsync within
// a second. A log file that is closed, as at every rotation, is fsynced before, so the logs on disk are always a prefix
// of what was committed.
//
// On a full disk it waits for space and logs that, because Pebble ends the process on a failed write.
type walFS struct {
	vfs.FS
	log  *slog.Logger
	stop <-chan struct{} // ends the wait for space
	wait time.Duration   // between two tries for space

	waiting atomic.Int64 // writes that wait for space
	gaveUp  atomic.Bool  // a write that waited for space failed because the store was closed

	mu   sync.Mutex
	logs map[*walFile]struct{}
}

func newWALFS(base vfs.FS, log *slog.Logger, stop <-chan struct{}) *walFS {
	return &walFS{FS: base, log: log, stop: stop, wait: 2 * time.Second, logs: map[*walFile]struct{}{}}
}

// Create implements vfs.FS.
func (fs *walFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	return fs.wrap(name, f, err)
}

// ReuseForWrite implements vfs.FS.
func (fs *walFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.ReuseForWrite(old, name, c)
	return fs.wrap(name, f, err)
}

func (fs *walFS) wrap(name string, f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	p := patientFile{File: f, name: name, fs: fs}
	if !strings.HasSuffix(name, ".log") {
		return &p, nil
	}
	w := &walFile{patientFile: p}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.logs[w] = struct{}{}
	return w, nil
}

// syncAll puts everything committed so far on the platter.
func (fs *walFS) syncAll() error {
	fs.mu.Lock()
	open := make([]*walFile, 0, len(fs.logs))
	for w := range fs.logs {
		open = append(open, w)
	}
	fs.mu.Unlock()
	var errs []error
	for _, w := range open {
		if err := w.syncForReal(); err != nil {
			errs = append(errs, fmt.Errorf("sync %s: %w", w.name, err))
		}
	}
	return errors.Join(errs...)
}

func (fs *walFS) forget(w *walFile) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(fs.logs, w)
}

// walFile is a log file whose syncs are put off.
type walFile struct {
	patientFile
	mu     sync.Mutex
	dirty  bool
	closed bool
}

// Sync implements vfs.File.
func (w *walFile) Sync() error { return w.SyncData() }

// SyncData implements vfs.File.
func (w *walFile) SyncData() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirty = true
	return nil
}

// SyncTo implements vfs.File.
func (w *walFile) SyncTo(int64) (fullSync bool, err error) { return false, w.SyncData() }

// Close implements vfs.File.
func (w *walFile) Close() error {
	err := w.syncForReal()
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.fs.forget(w)
	return errors.Join(err, w.File.Close())
}

func (w *walFile) syncForReal() error {
	w.mu.Lock()
	skip := !w.dirty || w.closed
	w.dirty = false
	w.mu.Unlock()
	if skip {
		return nil
	}
	return w.File.SyncData()
}

// patientFile waits for space while the disk is full.
type patientFile struct {
	vfs.File
	name string
	fs   *walFS
}

// Write implements io.Writer.
func (p *patientFile) Write(b []byte) (int, error) {
	written := 0
	for tries := 1; ; tries++ {
		n, err := p.File.Write(b[written:])
		written += n
		if !system.Full(err) {
			return written, err
		}
		p.fs.tellFull(tries, p.name, err)
		if !p.fs.waitForSpace(p.fs.wait, nil) {
			return written, err
		}
	}
}

// toldAgain is after how many tries at most it is said again that the disk is full: some five minutes.
const toldAgain = 128

// tellFull says that the disk is full at the 1st, 2nd, 4th … try: a disk may stay full for a night.
func (fs *walFS) tellFull(tries int, name string, err error) {
	if tries&(tries-1) == 0 || tries%toldAgain == 0 {
		fs.log.Error(diskFull, "file", name, "error", err)
	}
}

// waitForSpace waits before the next try. It returns false if there shall be none: the store or ended is closed.
func (fs *walFS) waitForSpace(wait time.Duration, ended <-chan struct{}) bool {
	fs.waiting.Add(1)
	defer fs.waiting.Add(-1)
	select {
	case <-fs.stop:
		fs.gaveUp.Store(true)
		return false
	case <-ended:
		return false
	case <-time.After(wait):
		return true
	}
}
