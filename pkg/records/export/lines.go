package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Lines writes chosen keys of records as JSON lines while they come. Write takes pieces of pages.jsonl, in their order;
// whatever is whole is written at once.
type Lines struct {
	s    sink
	held []byte // of a line whose end has not come
}

var _ io.Writer = (*Lines)(nil)

// NewLines returns a writer of the columns with the names; see Columns.
func NewLines(out io.Writer, names []string) (*Lines, error) {
	opt := Options{Format: JSONL, Columns: names}
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	s, err := newSink(out, opt)
	return &Lines{s: s}, err
}

// Write implements io.Writer. It keeps a line that has no end yet for the next call.
func (l *Lines) Write(p []byte) (int, error) {
	l.held = append(l.held, p...)
	done := 0
	for {
		end := bytes.IndexByte(l.held[done:], '\n')
		if end < 0 {
			break
		}
		err := one(bytes.TrimSpace(l.held[done:done+end]),
			func(line []byte, r *crawl.Record) error { return l.s.write(line, r) })
		if err != nil {
			return 0, errors.Join(err, l.s.close())
		}
		done += end + 1
	}
	l.held = l.held[:copy(l.held, l.held[done:])]
	if len(l.held) > maxLine {
		return 0, fmt.Errorf("a line of the pages is longer than %d bytes", maxLine)
	}
	return len(p), l.s.close() // it only writes what was held back
}
