// Package seedlist reads lists of seeds: a URL a line, as many lines as there are. What is no URL is told with the
// number of its line, and the rest is read all the same. Nothing is kept in memory but a line.
package seedlist

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// MaxLine is how many bytes a line may have. Of a longer one nothing is taken.
const MaxLine = 64 << 10

// Line is a line that is neither empty nor a comment.
type Line struct {
	Number int        // from 1, all lines counted
	URL    weburl.URL // as it was written, not yet canonical
	Err    error      // why the line is no seed; it names no password
}

// Reader reads a list. Lines end with LF or CRLF; a UTF-8 byte order mark, white space around a URL, empty lines, lines
// that begin with # and what follows a # after white space are left out. A list that is compressed with gzip is
// decompressed.
type Reader struct {
	in     *bufio.Reader
	begun  bool
	number int
}

// NewReader returns a reader of the list that r has.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, MaxLine)} }

// Next returns the next line that says something; io.EOF: there is none. Another error ends the list.
func (r *Reader) Next() (Line, error) {
	if err := r.begin(); err != nil {
		return Line{}, err
	}
	for {
		text, long, err := r.line()
		if err != nil {
			return Line{}, err
		}
		r.number++
		if long {
			return Line{Number: r.number, Err: fmt.Errorf("it is longer than %d bytes", MaxLine)}, nil
		}
		if seed := entry(text); seed != "" {
			u, err := crawl.ParseSeed(seed)
			return Line{Number: r.number, URL: u, Err: err}, nil
		}
	}
}

// Skip passes over the lines up to a number, and does not look at them.
func (r *Reader) Skip(lines int) error {
	if err := r.begin(); err != nil {
		return err
	}
	for r.number < lines {
		if _, _, err := r.line(); err != nil {
			return err
		}
		r.number++
	}
	return nil
}

// begin looks at the first bytes: what compresses the list, and what encodes it.
func (r *Reader) begin() error {
	if r.begun {
		return nil
	}
	r.begun = true
	if head, _ := r.in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r.in)
		if err != nil {
			return fmt.Errorf("a list that begins as gzip does: %w", err)
		}
		r.in = bufio.NewReaderSize(z, MaxLine)
	}
	switch head, _ := r.in.Peek(3); {
	case bytes.Equal(head, []byte("\ufeff")):
		_, _ = r.in.Discard(len(head)) // it was just seen
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return errors.New("the list is encoded as UTF-16: write it as UTF-8")
	}
	return nil
}

// line reads a line without its end; io.EOF: there is none. Of a line that is too long it reads all and returns none.
func (r *Reader) line() (text []byte, long bool, err error) {
	text, err = r.in.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		long, text = true, nil
		_, err = r.in.ReadSlice('\n')
	}
	if errors.Is(err, io.EOF) && (len(text) > 0 || long) {
		err = nil // the last line has no end
	}
	return text, long, err
}

// entry is what a line says.
func entry(line []byte) string {
	s := strings.TrimSpace(string(line))
	if strings.HasPrefix(s, "#") {
		return ""
	}
	for i := 1; i < len(s); i++ { // a # within a URL begins its fragment
		if s[i] == '#' && (s[i-1] == ' ' || s[i-1] == '\t') {
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}
