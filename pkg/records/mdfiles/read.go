package mdfiles

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// maxLine bounds a record.
const maxLine = 64 << 20

// PutAll writes the files of the records in r, a line each, and returns how many bytes of r were whole lines. Records
// that keep refuses are passed over; nil keeps all.
func (w *Writer) PutAll(ctx context.Context, r io.Reader, keep func(*crawl.Record) bool) (read int64, err error) {
	in := bufio.NewReaderSize(r, 256<<10)
	for n := 1; ; n++ {
		if err := context.Cause(ctx); err != nil {
			return read, err
		}
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return read, nil // what is left is a line that is being written
		}
		if err != nil {
			return read, fmt.Errorf("record %d: %w", n, err)
		}
		if err := w.putLine(line, keep); err != nil {
			return read, err
		}
		read += int64(len(line))
	}
}

func (w *Writer) putLine(line []byte, keep func(*crawl.Record) bool) error {
	if jsonl.IsReplaced(line) {
		return nil
	}
	rec, err := jsonl.ParseRecord(line)
	if err != nil {
		return err
	}
	if keep != nil && !keep(rec) {
		return nil
	}
	return w.Put(rec)
}

// readLine reads a line, its end included; io.EOF where there is no whole one.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxLine:
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
	}
}
