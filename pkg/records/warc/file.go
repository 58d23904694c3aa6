package warc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

const (
	suffix     = ".warc.gz"
	openSuffix = ".open"
)

// file is a WARC file that is being written. It is locked against other processes.
type file struct {
	*os.File
	final string // its path when finished
	size  int64  // bytes of whole records
}

// createFile makes the first file of the series, from serial on, whose name is free.
func createFile(dir string, opt Options, serial *int) (*file, error) {
	stamp := opt.Now().UTC().Format("20060102T150405Z")
	for {
		*serial++
		name := fmt.Sprintf("%s-%s-%05d-%s%s", opt.Prefix, stamp, *serial, opt.Host, suffix)
		f, err := tryCreate(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if f != nil {
			return f, syncName(f)
		}
	}
}

// syncName makes f's name durable: the content of a file without a name is lost as well.
func syncName(f *file) error {
	if err := system.SyncDir(filepath.Dir(f.Name())); err != nil {
		return errors.Join(err, os.Remove(f.Name()), f.Close())
	}
	return nil
}

// tryCreate returns nil without an error when the name is taken, or was taken from us before we had the lock.
func tryCreate(final string) (*file, error) {
	if _, err := os.Lstat(final); err == nil {
		return nil, nil
	}
	f, err := system.OpenFile(final+openSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if system.Lock(f) != nil || !stillThere(f) {
		return nil, f.Close()
	}
	return &file{File: f, final: final}, nil
}

// stillThere reports whether f's name still means f.
func stillThere(f *os.File) bool {
	mine, err1 := f.Stat()
	named, err2 := os.Stat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(mine, named)
}

// append appends whole records. When that fails half-way, the half is taken back.
func (f *file) append(p []byte) error {
	if _, err := f.Write(p); err != nil {
		if cut := f.Truncate(f.size); cut != nil {
			return &brokenError{fmt.Errorf("%w; and the half-written record could not be cut off: %w", err, cut)}
		}
		return err
	}
	f.size += int64(len(p))
	return nil
}

// brokenError says that nothing more may be appended.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// finish brings the file to the disk and gives it its final name.
func (f *file) finish() error {
	err := f.Sync()
	if err == nil {
		err = rename(f.Name(), f.final)
	}
	return errors.Join(err, f.Close())
}

// rename gives an open file its final name, durably. It replaces nothing.
func rename(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s exists already; %s keeps its name", to, filepath.Base(from))
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return system.SyncDir(filepath.Dir(to))
}

// finalName is the name of an open file when finished; ok is false for other files.
func finalName(name string) (final string, ok bool) {
	final, ok = strings.CutSuffix(name, openSuffix)
	return final, ok && strings.HasSuffix(final, suffix)
}
