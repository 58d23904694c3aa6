package spool

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"
)

// identityFile names a directory for good: a copy or a new volume in its place is another spool.
const identityFile = "spool-id"

// identity returns the name of the spool's directory and creates it if there is none. If several programs start at
// once, one creates it.
func identity(dir string) (uint32, error) {
	name := filepath.Join(dir, identityFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeIdentity(dir, name); err != nil {
			return 0, err
		}
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return 0, err
	}
	if len(text) == 0 {
		return 0, fmt.Errorf("%s is empty: remove it, unless another program is just making it", name)
	}
	return uint32(xxh3.Hash(text)), nil
}

// makeIdentity links a whole file to its place, so that nobody reads half of one; the first to do so counts.
func makeIdentity(dir, name string) error {
	f, err := os.CreateTemp(dir, identityFile+".*")
	if err != nil {
		return err
	}
	id := newID()
	_, err = f.WriteString(hex.EncodeToString(id[:]) + "\n")
	if err = errors.Join(err, f.Chmod(fileMode), f.Sync(), f.Close()); err == nil {
		if err = os.Link(f.Name(), name); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// bootID identifies the boot of the machine; containers have their host's. 0 if the system has none.
func bootID() uint32 {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0
	}
	return uint32(xxh3.Hash(text))
}
