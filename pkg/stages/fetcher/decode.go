package fetcher

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// maxEncodings is how many encodings of one body are decoded. Real servers apply one.
const maxEncodings = 3

// zstdWindow is the largest window of a zstd body (RFC 9659).
const zstdWindow = 8 << 20

// encodings returns the encodings of an answer in the order they were applied (RFC 9110, section 8.4). Many servers
// write into Content-Encoding what is none, such as a charset, "none", "binary" or "aws-chunked". As browsers do, the
// crawler passes over names that it does not know; a body that is no text then shows that by its bytes.
func encodings(h http.Header) ([]string, error) {
	var list []string
	for _, line := range h["Content-Encoding"] {
		for name := range strings.SplitSeq(line, ",") {
			name, _, _ = strings.Cut(name, ";") // "gzip;q=1.0": copied from Accept-Encoding
			name = strings.ToLower(strings.Trim(name, " \t\"'"))
			switch name {
			case "gzip", "x-gzip", "deflate", "br", "zstd":
				list = append(list, name)
			case "compress", "x-compress", "bzip2", "x-bzip2", "lzma", "x-lzma", "xz", "x-xz", "lz4", "snappy", "sdch",
				"dcb", "dcz", "exi", "pack200-gzip":
				return nil, fmt.Errorf("content encoding %q cannot be undone", name)
			}
		}
	}
	if len(list) > maxEncodings {
		return nil, fmt.Errorf("%d content encodings, at most %d are undone", len(list), maxEncodings)
	}
	return list, nil
}

// decoder is a reader that can start over on another source.
type decoder interface {
	io.Reader
	reset(src *bufio.Reader) error
}

// layer undoes one encoding. It begins at the first read: an encoded body may be empty.
type layer struct {
	name string
	src  *bufio.Reader
	max  int64 // octets of output; an inner layer may swell without ever adding to the whole
	n    int64
	err  error // sticky
	dec  decoder
	pool *sync.Pool
}

// Read implements io.Reader.
func (l *layer) Read(p []byte) (int, error) {
	if l.dec == nil && l.err == nil {
		l.err = l.begin()
	}
	if l.n > l.max && l.err == nil {
		l.err = errTooLong
	}
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.dec.Read(p)
	l.n += int64(n)
	l.err = err
	return n, err
}

func (l *layer) begin() error {
	head, err := l.src.Peek(textHead)
	if len(head) == 0 {
		return err // io.EOF: empty
	}
	if l.pool, err = decoderPool(l.name, head); err != nil {
		return err
	}
	l.dec = l.pool.Get().(decoder)
	return l.dec.reset(l.src)
}

// release gives the layer's buffers back.
func (l *layer) release() {
	if l.dec != nil {
		l.pool.Put(l.dec)
	}
	putBufio(l.src)
}

// Decoders are big (a brotli reader takes some 40 KiB, a zstd one more) and worth keeping.
var (
	plainPool  = sync.Pool{New: func() any { return new(plainDecoder) }}
	gzipPool   = sync.Pool{New: func() any { return new(gzipDecoder) }}
	zlibPool   = sync.Pool{New: func() any { return new(zlibDecoder) }}
	flatePool  = sync.Pool{New: func() any { return new(flateDecoder) }}
	brotliPool = sync.Pool{New: func() any { return new(brotliDecoder) }}
	zstdPool   = sync.Pool{New: func() any { return new(zstdDecoder) }}
	bufioPool  = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readBuffer) }}
)

func getBufio(r io.Reader) *bufio.Reader {
	b := bufioPool.Get().(*bufio.Reader)
	b.Reset(r)
	return b
}

func putBufio(b *bufio.Reader) {
	b.Reset(nil)
	bufioPool.Put(b)
}

// textHead is how many octets tell text.
const textHead = 64

// decoderPool chooses by name, and by the first octets: many servers call encoded what is plain text, such as
// robots.txt and error pages, or gzip what is deflate. What is called deflate is zlib data by the RFC and raw deflate
// data by many.
func decoderPool(name string, head []byte) (*sync.Pool, error) {
	if isText(head) {
		return &plainPool, nil
	}
	switch name {
	case "br":
		return &brotliPool, nil
	case "zstd":
		return &zstdPool, nil
	case "gzip", "x-gzip", "deflate":
		switch {
		case isGzip(head):
			return &gzipPool, nil
		case len(head) >= 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0: // RFC 1950, section 2.2
			return &zlibPool, nil
		case name == "deflate":
			return &flatePool, nil
		}
		return &gzipPool, nil
	}
	return nil, fmt.Errorf("content encoding %q is unknown", name)
}

// isText reports whether octets are no beginning of encoded data: printable and white space, in UTF-8.
func isText(head []byte) bool {
	const few = 4
	if len(head) == textHead { // may end within a character
		for i := 0; i < utf8.UTFMax-1 && !utf8.Valid(head); i++ {
			head = head[:len(head)-1]
		}
	}
	return len(head) >= few && utf8.Valid(head) && bytes.IndexFunc(head, isControl) < 0
}

func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' || r == 0x7f
}

// plainDecoder decodes what is not encoded.
type plainDecoder struct{ *bufio.Reader }

func (d *plainDecoder) reset(src *bufio.Reader) error { //nolint:unparam // as all decoders
	d.Reader = src
	return nil
}

type brotliDecoder struct{ brotli.Reader }

func (d *brotliDecoder) reset(src *bufio.Reader) error { return d.Reset(src) }

type zstdDecoder struct{ *zstd.Decoder }

func (d *zstdDecoder) reset(src *bufio.Reader) (err error) {
	if d.Decoder != nil {
		return d.Reset(src)
	}
	d.Decoder, err = zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindow))
	return err
}
