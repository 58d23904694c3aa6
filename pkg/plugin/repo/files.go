package repo

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

var (
	validUse    = regexp.MustCompile(`^[a-z0-9-]{1,32}/[a-z0-9-]{1,32}@[0-9]{1,6}(\.[0-9]{1,6}\.[0-9]{1,6})?$`)
	validDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// writeNew writes a file that is not there yet: whole or not at all, and safe from a loss of power when it returns. Its
// error is fs.ErrExist where the file is there.
func writeNew(name string, data []byte) error {
	return writeBeside(name, data, plainFile, func(temp string) error {
		defer func() { _ = os.Remove(temp) }() // the link has another name for it
		return os.Link(temp, name)
	})
}

// writeOver writes a file, over the one that may be there.
func writeOver(name string, data []byte, mode fs.FileMode) error {
	return writeBeside(name, data, mode, func(temp string) error { return os.Rename(temp, name) })
}

// The modes of files.
const (
	plainFile   fs.FileMode = 0o644
	programFile fs.FileMode = 0o755
)

func writeBeside(name string, data []byte, mode fs.FileMode, publish func(temp string) error) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	sweep(dir)
	f, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return err
	}
	if err := fill(f, data, mode); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := publish(f.Name()); err != nil {
		_ = os.Remove(f.Name()) // what could not be published is of no use
		return err
	}
	return system.SyncDir(dir)
}

const (
	unfinished = ".new-*" // what is being written
	// longestWrite is after how long nobody writes a file any more: who did was killed.
	longestWrite = time.Hour
)

// sweep removes what was left of writes that were cut off. Where it cannot, it takes room and nothing else.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, unfinished)) // a bad pattern finds none
	for _, name := range left {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > longestWrite {
			_ = os.Remove(name)
		}
	}
}

func fill(f *os.File, data []byte, mode fs.FileMode) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

// compareUse orders by name and then by version, as numbers.
func compareUse(a, b *plugin.Descriptor) int {
	if c := cmp.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	x, y := strings.Split(a.Version, "."), strings.Split(b.Version, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i]) // the version was checked
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return cmp.Compare(m, n)
		}
	}
	return cmp.Compare(len(x), len(y))
}
