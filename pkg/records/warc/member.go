package warc

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// members reads a file of gzip members one by one and knows where each begins.
type members struct {
	src source
	buf *bufio.Reader
	gz  *gzip.Reader
}

// source counts what is read, and remembers an error of the file itself: it must not be taken for one of its content.
type source struct {
	r   io.Reader
	n   int64
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

func newMembers(r io.Reader) *members {
	m := &members{src: source{r: r}}
	m.buf = bufio.NewReaderSize(&m.src, 256<<10)
	return m
}

// offset is that of the next byte: between two members, where the next one begins.
func (m *members) offset() int64 { return m.src.n - int64(m.buf.Buffered()) }

// next opens the next member. io.EOF: there is none, and the file ends well.
func (m *members) next() (io.Reader, error) {
	if _, err := m.buf.Peek(1); err != nil {
		return nil, err
	}
	var err error
	if m.gz == nil {
		m.gz, err = gzip.NewReader(m.buf)
	} else {
		err = m.gz.Reset(m.buf)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	m.gz.Multistream(false)
	return m.gz, nil
}
