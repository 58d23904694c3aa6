package spool

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// reader reads a body and checks it against its reference on the way, so that a whole body is one system call to read.
type reader struct {
	file *os.File
	hash *xxh3.Hasher
	left uint64 // bytes to come
	sum  uint64
	err  error

	missing func() error // why there is no file of the body's name
}

// Read implements io.Reader. The last bytes come only if the body is whole.
func (r *reader) Read(p []byte) (int, error) {
	switch {
	case r.err != nil:
		return 0, r.err
	case r.left == 0:
		r.err = io.EOF
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	n, err := r.file.Read(p[:min(uint64(len(p)), r.left)])
	_, _ = r.hash.Write(p[:n]) // never fails
	r.left -= uint64(n)
	switch {
	case errors.Is(err, io.EOF):
		err = r.damaged(fmt.Sprintf("%d bytes are missing", r.left))
	case err == nil && r.left == 0 && r.hash.Sum64() != r.sum:
		err = r.damaged("its checksum is wrong")
	}
	if err != nil {
		r.err = err
		return 0, err
	}
	return n, nil
}

// damaged is the error for a file that does not hold the expected body. If the body was released meanwhile, the file
// may hold another one.
func (r *reader) damaged(why string) error {
	if gone(r.file) {
		return r.missing()
	}
	return crawl.Permanent(fmt.Errorf("body %s: %w (%s)", r.file.Name(), crawl.ErrBodyLost, why))
}

// Close implements io.Closer. It returns an error if the body was released before all of it was read: then the checksum
// was not verified, and the bytes may be those of another body.
func (r *reader) Close() error {
	if r.hash == nil {
		return os.ErrClosed
	}
	var err error
	if r.left > 0 && r.err == nil && gone(r.file) {
		err = r.missing()
	}
	hashers.Put(r.hash)
	r.hash, r.err = nil, os.ErrClosed
	return errors.Join(err, r.file.Close())
}
