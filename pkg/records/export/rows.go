package export

import (
	"bytes"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Rows makes rows of records one by one, for a file that grows. What it makes of a record depends on nothing before it.
type Rows struct {
	s    sink
	buf  bytes.Buffer
	head []byte
}

// NewRows returns what makes the rows that opt asks for. opt.Keep is not asked.
func NewRows(opt Options) (*Rows, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	if !opt.Format.row().grows {
		return nil,
			fmt.Errorf("format %s: a file of it cannot grow: write it when the crawl has ended, with `whirlpool export`",
				opt.Format)
	}
	r := &Rows{}
	var err error
	if r.s, err = newSink(&r.buf, opt); err != nil {
		return nil, err
	}
	if err := r.s.close(); err != nil { // it only writes what was held back
		return nil, err
	}
	r.head = bytes.Clone(r.buf.Bytes())
	return r, nil
}

// Head is what a file begins with; it may be empty.
func (r *Rows) Head() []byte { return r.head }

// Append appends the row of a record, whose line has no end.
func (r *Rows) Append(dst, line []byte, rec *crawl.Record) ([]byte, error) {
	r.buf.Reset()
	if err := r.s.write(line, rec); err != nil {
		return dst, err
	}
	if err := r.s.close(); err != nil {
		return dst, err
	}
	dst = append(dst, r.buf.Bytes()...)
	if r.buf.Cap() > maxRow {
		r.buf = bytes.Buffer{}
	}
	return dst, nil
}

// maxRow bounds the buffer that is kept for the next row.
const maxRow = 1 << 20
