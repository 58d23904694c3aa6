package repo

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

var (
	validUse    = regexp.MustCompile(`^[a-z0-9-]{1,32}/[a-z0-9-]{1,32}@[0-9]{1,6}(\.[0-9]{1,6}\.[0-9]{1,6})?$`)
	validDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// writeNew writes a file that is not there yet: whole or not at all, and safe from a loss of power when it returns. Its
// error is fs.ErrExist where the file is there.
func writeNew(name string, data []byte) error {
	return writeBeside(name, data, func(temp string) error {
		defer func() { _ = os.Remove(temp) }() // the link has another name for it
		return os.Link(temp, name)
	})
}

// writeOver writes a file, over the one that may be there.
func writeOver(name string, data []byte) error {
	return writeBeside(name, data, func(temp string) error { return os.Rename(temp, name) })
}

func writeBeside(name string, data []byte, publish func(temp string) error) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	if err := fill(f, data); err != nil {
		return fmt.Errorf("%w (%w)", err, os.Remove(f.Name()))
	}
	if err := publish(f.Name()); err != nil {
		_ = os.Remove(f.Name()) // what could not be published is of no use
		return err
	}
	return syncDir(dir)
}

func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return cmp.Or(f.Sync(), f.Close())
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
