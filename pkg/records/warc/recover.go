package warc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// recoverDir finishes the files that a process left open when it was killed.
func recoverDir(dir string, log *slog.Logger) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if final, ok := finalName(e.Name()); ok {
			if err := recoverFile(filepath.Join(dir, e.Name()), filepath.Join(dir, final), log); err != nil {
				return fmt.Errorf("recover %s: %w", e.Name(), err)
			}
		}
	}
	return nil
}

// recoverFile cuts the file after its last whole record and renames it; a file without one is removed. A file that
// another process has open is left alone.
func recoverFile(path, final string, log *slog.Logger) (err error) {
	f, err := system.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its owner finished it meanwhile
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if system.Lock(f) != nil || !stillThere(f) {
		log.Info("archive file is in use by another process, left alone", "file", path)
		return nil
	}
	whole, records, err := scan(f)
	if err != nil {
		return err
	}
	if records == 0 {
		return os.Remove(path)
	}
	return cut(f, whole, final, log)
}

func cut(f *os.File, whole int64, final string, log *slog.Logger) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if lost := info.Size() - whole; lost > 0 {
		log.Warn("archive file was cut after its last whole record", "file", final, "bytes_cut", lost)
		if err := f.Truncate(whole); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return rename(f.Name(), final)
}

// scan returns where the last whole record of r ends, and how many there are up to there. The error is one of reading
// r, never one of its content.
func scan(r io.Reader) (end int64, records int, err error) {
	m := newMembers(r)
	for {
		body, err := m.next()
		if err == nil {
			_, err = io.Copy(io.Discard, body)
		}
		if m.src.err != nil {
			return end, records, m.src.err
		}
		if err != nil { // the end, or a member that is not whole
			return end, records, nil //nolint:nilerr // it says where the sound part ends
		}
		end = m.offset()
		records++
	}
}
