package wacz

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path"
	"strings"
	"time"
)

// resource is a file of the package as datapackage.json tells it.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// pack is a package that is being written.
type pack struct {
	zip       *zip.Writer
	now       time.Time
	resources []resource
}

// entryWriter is a file of the package that is being written.
type entryWriter struct {
	w   io.Writer
	sum hash.Hash
	n   int64
}

// Write implements io.Writer.
func (e *entryWriter) Write(b []byte) (int, error) {
	n, err := e.w.Write(b)
	e.sum.Write(b[:n])
	e.n += int64(n)
	return n, err
}

// create begins a file; what it holds is written before the next one begins.
func (p *pack) create(name string, method uint16) (*entryWriter, error) {
	w, err := p.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: p.now})
	return &entryWriter{w: w, sum: sha256.New()}, err
}

// done notes a file that was written.
func (p *pack) done(name string, e *entryWriter) { p.note(name, e.sum.Sum(nil), e.n) }

func (p *pack) note(name string, sum []byte, n int64) {
	p.resources = append(p.resources, resource{Name: strings.ToLower(path.Base(name)), Path: name, Bytes: n,
		Hash: "sha256:" + hex.EncodeToString(sum)})
}

// write writes a whole file.
func (p *pack) write(name string, method uint16, content []byte) error {
	e, err := p.create(name, method)
	if err == nil {
		_, err = e.Write(content)
	}
	p.done(name, e)
	return err
}

// store puts the first n bytes of a file of the archive into the package as they are. It is read twice, so that its
// checksum is before it: readers need not know the format's later forms.
func (p *pack) store(ctx context.Context, name, file string, n int64) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	crc, sum := crc32.NewIEEE(), sha256.New()
	if err := copyTo(ctx, io.MultiWriter(crc, sum), f, n); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	h := &zip.FileHeader{Name: name, Method: zip.Store, CRC32: crc.Sum32(), CompressedSize64: uint64(n),
		UncompressedSize64: uint64(n)}
	h.ModifiedDate, h.ModifiedTime = dosTime(p.now) //nolint:staticcheck // CreateRaw writes these, and not Modified
	w, err := p.zip.CreateRaw(h)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := copyTo(ctx, w, f, n); err != nil {
		return fmt.Errorf("pack %s: %w", file, err)
	}
	p.note(name, sum.Sum(nil), n)
	return nil
}

// copyTo copies n bytes, unless ctx ends before.
func copyTo(ctx context.Context, w io.Writer, r io.Reader, n int64) error {
	const step = 16 << 20
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := io.CopyN(w, r, min(n, step))
		if err != nil {
			return err
		}
		n -= m
	}
	return nil
}

// indented encodes JSON for people, too.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}

// dosTime is a time as ZIP has it, in steps of two seconds.
func dosTime(t time.Time) (date, clock uint16) {
	return uint16(t.Day() + int(t.Month())<<5 + max(t.Year()-1980, 0)<<9),
		uint16(t.Second()/2 + t.Minute()<<5 + t.Hour()<<11)
}
