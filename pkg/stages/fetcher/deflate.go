package fetcher

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/flate"
)

// Formats around deflate end with a checksum. Programs that write them by hand get it wrong, or leave it out, as many
// in PHP do. As browsers do, the crawler does not look at it: that the data is whole is said by the data.

// flateDecoder undoes deflate (RFC 1951).
type flateDecoder struct{ io.ReadCloser }

func (d *flateDecoder) reset(src *bufio.Reader) error {
	if r, ok := d.ReadCloser.(flate.Resetter); ok {
		return r.Reset(src, nil)
	}
	d.ReadCloser = flate.NewReader(src)
	return nil
}

// zlibDecoder undoes deflate with the header of zlib (RFC 1950).
type zlibDecoder struct{ flateDecoder }

func (d *zlibDecoder) reset(src *bufio.Reader) error {
	if _, err := src.Discard(2); err != nil {
		return err
	}
	return d.flateDecoder.reset(src)
}

// gzipTrailer is the length of a checksum and a size.
const gzipTrailer = 8

var errGzip = errors.New("no header of gzip")

// gzipDecoder undoes gzip (RFC 1952).
type gzipDecoder struct {
	flateDecoder
	src *bufio.Reader
}

func (d *gzipDecoder) reset(src *bufio.Reader) error {
	d.src = src
	if err := skipGzipHeader(src); err != nil {
		return err
	}
	return d.flateDecoder.reset(src)
}

// Read implements io.Reader. Members may follow one another; what follows the last one is padding, as browsers see it.
func (d *gzipDecoder) Read(p []byte) (int, error) {
	for {
		n, err := d.flateDecoder.Read(p)
		if n > 0 && err == io.EOF {
			return n, nil
		}
		if n > 0 || err != io.EOF {
			return n, err
		}
		if _, err := d.src.Discard(gzipTrailer); errors.Is(err, errTooLong) {
			return 0, err
		}
		if head, _ := d.src.Peek(2); !isGzip(head) {
			return 0, io.EOF
		}
		if err := d.reset(d.src); err != nil {
			return 0, err
		}
	}
}

func isGzip(head []byte) bool { return len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b }

// Flags of a header of gzip.
const (
	gzipSum     = 1 << 1
	gzipExtra   = 1 << 2
	gzipName    = 1 << 3
	gzipComment = 1 << 4
)

func skipGzipHeader(src *bufio.Reader) error {
	const fixed = 10
	head, err := src.Peek(fixed)
	switch {
	case len(head) >= 2 && !isGzip(head) || len(head) == fixed && head[2] != 8:
		return errGzip
	case err != nil:
		return unexpected(err)
	}
	flags := head[3]
	_, _ = src.Discard(fixed)
	if flags&gzipExtra != 0 {
		n, err := src.Peek(2)
		if err != nil {
			return unexpected(err)
		}
		if _, err = src.Discard(2 + int(n[0]) + int(n[1])<<8); err != nil {
			return unexpected(err)
		}
	}
	for _, text := range []byte{gzipName, gzipComment} {
		for flags&text != 0 {
			c, err := src.ReadByte()
			if err != nil {
				return unexpected(err)
			}
			if c == 0 {
				break
			}
		}
	}
	if flags&gzipSum != 0 {
		_, err = src.Discard(2)
	}
	return unexpected(err)
}

// unexpected is an error within what should be whole.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
