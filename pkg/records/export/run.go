package export

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Bounds of what is read.
const (
	maxLine   = 64 << 20 // bytes; the limits of a job keep records far below
	maxFields = 1_000    // that FieldTypes returns at most
)

// sink writes rows of one format. close writes what is still held back; it does not close the file.
type sink interface {
	write(line []byte, r *crawl.Record) error
	close() error
}

// Run reads records from in, as they are in pages.jsonl, and writes those that opt asks for to out. n is the number
// of rows written. After an error, out holds the rows before it; a Parquet file is then of no use.
func Run(ctx context.Context, in io.Reader, out io.Writer, opt Options) (n int64, err error) {
	if err := opt.Validate(); err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	s, err := newSink(out, opt)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	err = eachRecord(ctx, in, func(line []byte, r *crawl.Record) error {
		if opt.Keep != nil && !opt.Keep(r) {
			return nil
		}
		if err := s.write(line, r); err != nil {
			return fmt.Errorf("write %s: %w", r.URL, err)
		}
		n++
		return nil
	})
	if err = errors.Join(err, s.close()); err != nil {
		return n, fmt.Errorf("export: %w", err)
	}
	return n, nil
}

func newSink(out io.Writer, opt Options) (sink, error) {
	cols, err := opt.columns()
	if err != nil {
		return nil, err
	}
	return opt.Format.row().open(out, cols, opt)
}

// eachRecord calls do for every line of in that is not blank, without its end. Errors name the line.
func eachRecord(ctx context.Context, in io.Reader, do func(line []byte, r *crawl.Record) error) error {
	lines := bufio.NewReaderSize(in, 256<<10)
	var buf []byte
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		buf, err = appendLine(buf[:0], lines)
		if errors.Is(err, io.EOF) && len(buf) == 0 {
			return nil
		}
		if err == nil || errors.Is(err, io.EOF) {
			err = one(bytes.TrimSpace(buf), do)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
}

func one(line []byte, do func([]byte, *crawl.Record) error) error {
	if len(line) == 0 || jsonl.IsReplaced(line) {
		return nil
	}
	r, err := jsonl.ParseRecord(line)
	if err != nil {
		return err
	}
	return do(line, r)
}

// appendLine appends the next line to b.
func appendLine(b []byte, r *bufio.Reader) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		b = append(b, part...)
		if len(b) > maxLine {
			return b, fmt.Errorf("longer than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b, err
		}
	}
}
