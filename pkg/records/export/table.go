package export

import (
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Table writes records one by one into a file that ends some time: any format.
type Table struct{ s sink }

// NewTable begins a file. opt.Keep is not asked.
func NewTable(out io.Writer, opt Options) (*Table, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	s, err := newSink(out, opt)
	if err != nil {
		return nil, err
	}
	return &Table{s}, nil
}

// Add writes the row of a record, whose line has no end.
func (t *Table) Add(line []byte, r *crawl.Record) error { return t.s.write(line, r) }

// Close writes what is held back, and the file's end. It does not close the file.
func (t *Table) Close() error { return t.s.close() }

// Grows reports whether rows can be added to a file at any time: nothing follows the last.
func (f Format) Grows() bool { return f.row().grows }
