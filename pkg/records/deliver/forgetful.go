package deliver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
)

// Forgetful are Notes of one process: for who delivers all from the first record on.
type Forgetful struct{ kept map[string][]byte }

// Get implements Notes.
func (f *Forgetful) Get(_ context.Context, name string) (value []byte, found bool, err error) {
	value, found = f.kept[name]
	return value, found, nil
}

// Put implements Notes.
func (f *Forgetful) Put(_ context.Context, name string, value []byte) error {
	if f.kept == nil {
		f.kept = map[string][]byte{}
	}
	f.kept[name] = value
	return nil
}

// Stream is a Source that is read once, from its beginning to its end. What follows an error is lost: begin again.
type Stream struct {
	lines *bufio.Reader
	at    int64
	ended bool
	err   error
}

// NewStream returns a Source of lines.
func NewStream(r io.Reader) *Stream { return &Stream{lines: bufio.NewReaderSize(r, 64<<10)} }

// Length implements Source: it is not known before the end.
func (s *Stream) Length() int64 {
	if s.ended {
		return s.at
	}
	return math.MaxInt64
}

// EachLine implements Source.
func (s *Stream) EachLine(ctx context.Context, from int64,
	use func(next int64, line []byte) (more bool, err error)) error {
	if s.err == nil && from != s.at {
		s.err = errors.New("records are read once: begin again")
	}
	for s.err == nil && !s.ended {
		if s.err = ctx.Err(); s.err != nil {
			break
		}
		line, err := s.lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			s.ended = true
		case err != nil:
			s.err = err
			return err
		}
		if len(line) == 0 {
			break
		}
		s.at += int64(len(line))
		more, err := use(s.at, trimmedEnd(line))
		if err != nil {
			s.err = err
		}
		if err != nil || !more {
			break
		}
	}
	return s.err
}

func trimmedEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}
