package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Files of released bodies are reused. Creating and deleting hundreds of files a second is what ext4 does worst:
// looking for a free inode, it skips all that were deleted in the last five seconds (recently_deleted in
// fs/ext4/ialloc.c). That was measured to cost 0.25 to 0.9 ms of CPU for each file, more than the whole fetch of its
// page. Two renames cost 0.02 ms.
const (
	freeDir = "free"
	// freeSlots is the number of names in the directory, and so of files kept. They are used in turn. If the slot of a
	// file is not free yet, the file replaces the other, which deletes that; slots chosen at random would cost
	// deletions long before all are used.
	freeSlots = 4096
	// freeMost is the size, in bytes, up to which a file is kept. It is larger than most pages.
	freeMost = 128 << 10
	// freeAge is when a file that nobody used again is removed.
	freeAge = 10 * time.Minute
	// freeLook is how long a look that found nothing holds.
	freeLook = 100 * time.Millisecond
)

// free are files that this program has seen in the directory of free files. Others may take them first.
type free struct {
	mu     sync.Mutex
	names  []string
	looked time.Time // when nothing was there

	slot atomic.Uint32 // of the file that was made free last; a program begins anywhere
}

func (s *Spool) freeFile() string {
	return filepath.Join(s.cfg.Dir, freeDir, fmt.Sprintf("%03x", s.free.slot.Add(1)%freeSlots))
}

// reuse gives a free file the name of a new body. It reports whether there was one.
func (s *Spool) reuse(name string) bool {
	for range 4 {
		old := s.nextFree()
		if old == "" {
			return false
		}
		if info, err := os.Lstat(old); err != nil || s.now().Sub(info.ModTime()) > s.cfg.MaxAge/2 {
			continue // taken by another program; or so old that it could be swept before it is written
		} else if !onlyName(info) { // somebody else holds the body; only a holder can share it, so one name stays one
			_ = os.Remove(old)
			continue
		}
		if os.Rename(old, name) == nil {
			return true
		}
	}
	return false
}

// nextFree returns the path of a file that was free a moment ago; empty: there is none.
func (s *Spool) nextFree() string {
	s.free.mu.Lock()
	defer s.free.mu.Unlock()
	dir := filepath.Join(s.cfg.Dir, freeDir)
	if now := s.now(); len(s.free.names) == 0 && now.Sub(s.free.looked) >= freeLook {
		entries, _ := os.ReadDir(dir) // a file that cannot be used again is made
		for _, e := range entries {
			s.free.names = append(s.free.names, e.Name())
		}
		if len(entries) == 0 {
			s.free.looked = now
		}
	}
	last := len(s.free.names) - 1
	if last < 0 {
		return ""
	}
	name := s.free.names[last]
	s.free.names = s.free.names[:last]
	return filepath.Join(dir, name)
}

// recycle makes the file of a body free; ok is false where it must be removed instead.
func (s *Spool) recycle(r *ref) (ok bool) {
	if r.size > freeMost || s.now().Sub(r.time()) > s.cfg.MaxAge/2 {
		return false
	}
	return os.Rename(s.file(r.id), s.freeFile()) == nil
}

// dropFree removes all free files: the disk is full.
func (s *Spool) dropFree() {
	_, _, err := sweepDir(filepath.Join(s.cfg.Dir, freeDir), s.now().Add(time.Hour))
	if err != nil {
		s.cfg.Log.Warn("free files of the body spool could not be removed", "dir", s.cfg.Dir, "error", err)
	}
}

// cut removes what a longer body left behind the one that was written.
func cut(f *os.File, size uint64) error {
	info, err := f.Stat()
	if err == nil && info.Size() > int64(size) {
		err = f.Truncate(int64(size))
	}
	return err
}

// gone reports whether a file has lost its name: its body was released, and another may be in it.
func gone(f *os.File) bool {
	_, err := os.Lstat(f.Name())
	return errors.Is(err, fs.ErrNotExist)
}
