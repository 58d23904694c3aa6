package documents

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The cache holds machine code, and who reads it believes all of it but the code itself: a file that the disk, or a
// process that was killed, left damaged could stop every PDF for good. So each file has its digest beside it, in a file
// of its own, and is deleted where the two do not agree: the next process compiles again.
const digestSuffix = ".sha256"

// sweepCache deletes the files of a cache that are not whole. Whatever cannot be read or deleted is found out by
// whoever uses it.
func sweepCache(dir string) {
	eachCached(dir, func(name string) {
		want, err := os.ReadFile(name + digestSuffix)
		if got, e := digestOf(name); err != nil || e != nil || !bytes.Equal(want, got) {
			_ = os.Remove(name)
		}
	})
}

// sealCache writes the digests of the files that have none that agrees.
func sealCache(dir string) {
	eachCached(dir, func(name string) {
		got, err := digestOf(name)
		if err != nil {
			return
		}
		if was, err := os.ReadFile(name + digestSuffix); err == nil && bytes.Equal(was, got) {
			return
		}
		tmp, err := os.CreateTemp(filepath.Dir(name), "*.tmp")
		if err != nil {
			return // the next process compiles again
		}
		_, err = tmp.Write(got)
		if e := tmp.Close(); err != nil || e != nil || os.Rename(tmp.Name(), name+digestSuffix) != nil {
			_ = os.Remove(tmp.Name())
		}
	})
}

// eachCached calls yield with the name of each file of compiled code below dir.
func eachCached(dir string, yield func(name string)) {
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasSuffix(name, digestSuffix) && !strings.HasSuffix(name, ".tmp") {
			yield(name)
		}
		return nil
	})
}

// digestOf is the digest of a file as it is beside it.
func digestOf(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	_ = f.Close() // it was read
	return []byte(hex.EncodeToString(sum.Sum(nil)) + "\n"), err
}

// writable reports whether files can be made in a directory.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, "*.tmp")
	if err != nil {
		return false
	}
	_ = f.Close()
	return os.Remove(f.Name()) == nil
}
