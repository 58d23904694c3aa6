package warc

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// isChunked reports whether the head of an HTTP message says that its body came in chunks.
func isChunked(head []byte) bool {
	_, fields, _ := bytes.Cut(head, []byte("\n"))
	h, _ := textproto.NewReader(bufio.NewReader(bytes.NewReader(fields))).ReadMIMEHeader()
	codings := strings.Split(strings.Join(http.Header(h).Values("Transfer-Encoding"), ","), ",")
	return strings.EqualFold(strings.TrimSpace(codings[len(codings)-1]), "chunked")
}

// dechunker is an io.Writer that passes on what chunks hold (RFC 9112, 7.1). After a chunk that is none it passes on
// nothing more.
type dechunker struct {
	to   io.Writer
	left int64 // of the chunk, with the line end behind it
	line []byte
	over bool // the last chunk came, or one that is none
}

// maxChunkLine is how long the line before a chunk may be.
const maxChunkLine = 4 << 10

func (d *dechunker) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && !d.over {
		if d.left > 0 {
			p = d.data(p)
			continue
		}
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		p = rest
		if d.line = append(d.line, line...); whole || len(d.line) > maxChunkLine {
			d.begin()
		}
	}
	return n, nil
}

// data passes on what of p is of the chunk, and returns the rest of p.
func (d *dechunker) data(p []byte) []byte {
	part := p[:min(int64(len(p)), d.left)]
	end := int64(len("\r\n"))
	if body := d.left - end; body > 0 {
		_, _ = d.to.Write(part[:min(int64(len(part)), body)]) // a checksum, which never fails
	}
	d.left -= int64(len(part))
	return p[len(part):]
}

// begin reads the line before a chunk: its length in hexadecimal, and perhaps extensions.
func (d *dechunker) begin() {
	digits, _, _ := strings.Cut(string(d.line), ";")
	length, err := strconv.ParseUint(strings.TrimSpace(digits), 16, 62)
	d.line = d.line[:0]
	d.over = err != nil || length == 0
	d.left = int64(length) + int64(len("\r\n")) //nolint:gosec // of 62 bits
}
