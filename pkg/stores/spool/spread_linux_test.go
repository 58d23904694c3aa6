package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A spool's directories are placed apart on disk, so that creating files does not slow down where others were deleted.
// On file systems without that feature the spool works as well.
func TestTheSpoolSpreadsItsDirectories(t *testing.T) {
	dir := t.TempDir()
	if err := spread(dir); errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("this file system knows nothing of it: ", err)
	}
	s := open(t, filepath.Join(dir, "spool"))
	for name, want := range map[string]bool{s.cfg.Dir: true, filepath.Join(s.cfg.Dir, "00"): false} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
		if err != nil || flags&topDir != 0 != want {
			t.Errorf("flags of %s: %#x, error %v; want the directories in it to lie apart: %v", name, flags, err, want)
		}
	}
	if err := spread(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// So many bodies that are released at once leave so many files to be used again: none takes the place of another.
func TestConcurrentReleases(t *testing.T) {
	s := open(t, t.TempDir())
	const n = 600
	var refs []crawl.BodyRef
	for range n {
		refs = append(refs, put(t, s, "a body"))
	}
	for _, r := range refs {
		if err := s.Release(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(freeFiles(t, s)); got != n {
		t.Errorf("%d bodies left %d files to be used again", n, got)
	}
}
