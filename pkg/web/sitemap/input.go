package sitemap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// sniffLen is how much of a document is looked at to tell what it is.
const sniffLen = 1 << 10

// bufferLen is the size of the buffers between the steps; a line of a text sitemap beyond it is no URL.
const bufferLen = 16 << 10

// source remembers an error of the caller's reader, to tell it from a fault of the document.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// limited ends with ErrTooLarge after max octets.
type limited struct {
	r         io.Reader
	read, max int64
}

func (l *limited) Read(b []byte) (int, error) {
	if left := l.max - l.read; int64(len(b)) > left {
		if left == 0 {
			return l.probe()
		}
		b = b[:left]
	}
	n, err := l.r.Read(b)
	l.read += int64(n)
	return n, err
}

// probe tells a document that ends at the limit from one that goes on.
func (l *limited) probe() (int, error) {
	if _, err := io.ReadFull(l.r, make([]byte, 1)); err != nil {
		return 0, err
	}
	return 0, ErrTooLarge
}

// open returns the document as UTF-8, decompressed and limited, without byte order mark.
func (p *parser) open() (*bufio.Reader, error) {
	packed := bufio.NewReaderSize(p.source, bufferLen)
	var plain io.Reader = packed
	if magic, _ := packed.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(packed)
		if err != nil {
			return nil, fmt.Errorf("unpacking gzip: %w", err)
		}
		plain = unpacked
	}
	p.input = &limited{r: plain, max: p.limits.MaxBytes}
	raw := bufio.NewReaderSize(p.input, bufferLen)
	head, _ := raw.Peek(sniffLen)
	return bufio.NewReaderSize(decode(raw, head), bufferLen), nil
}

// decode returns raw as UTF-8. A byte order mark is believed first, then the zeros between the letters of UTF-16,
// then the XML declaration, then it is UTF-8. Invalid octets become U+FFFD, since a single one would otherwise end
// the reading of XML.
func decode(raw io.Reader, head []byte) io.Reader {
	endian := unicode.LittleEndian
	switch {
	case bytes.HasPrefix(head, []byte{0, '<'}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		endian = unicode.BigEndian
	case bytes.HasPrefix(head, []byte{'<', 0}), bytes.HasPrefix(head, []byte{0xff, 0xfe}):
	default:
		return decodeLabel(raw, declaredEncoding(head))
	}
	return transform.NewReader(raw, unicode.UTF16(endian, unicode.UseBOM).NewDecoder())
}

func decodeLabel(raw io.Reader, label string) io.Reader {
	e, name := charset.Lookup(label)
	if e == nil || name == "utf-8" || strings.HasPrefix(name, "utf-16") { // the declaration itself was not in UTF-16
		return transform.NewReader(raw, unicode.UTF8BOM.NewDecoder())
	}
	return transform.NewReader(raw, e.NewDecoder())
}

// declaredEncoding is the encoding in the XML declaration that head starts with, "" if there is none.
func declaredEncoding(head []byte) string {
	declaration, _, found := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("?>"))
	if !bytes.HasPrefix(declaration, []byte("<?xml")) {
		return ""
	}
	_, value, named := bytes.Cut(declaration, []byte("encoding"))
	value = bytes.TrimLeft(value, " \t\r\n=")
	if !found || !named || len(value) == 0 || (value[0] != '"' && value[0] != '\'') {
		return ""
	}
	label, _, _ := bytes.Cut(value[1:], value[:1])
	return string(label)
}

// readLine appends the next line to a buffer, without white space around it. It ends with LF, CR or both; between the
// two there is an empty line, which says nothing. A line beyond bufferLen reads as an unusable one.
func readLine(r *bufio.Reader, line []byte) ([]byte, error) {
	tooLong := false
	for {
		c, err := r.ReadByte()
		switch {
		case (err != nil || c == '\n' || c == '\r') && tooLong:
			return []byte("…"), err
		case err != nil, c == '\n', c == '\r':
			return bytes.TrimSpace(line), err
		case len(line) < bufferLen:
			line = append(line, c)
		default:
			tooLong = true
		}
	}
}
