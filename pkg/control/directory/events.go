package directory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Events implements control.Service: it reads crawl.log, whether the crawl runs or not.
func (s *Service) Events(ctx context.Context, id crawl.JobID, sel control.Selection, each control.EachLine) error {
	dir, err := Find(s.named)
	if err == nil && id != "" {
		err = s.with(ctx, id, func(*Directory) error { return nil }) // it is that job
	}
	if err != nil {
		return err
	}
	return linesFrom(ctx, dir, sel.From, sel.Follow, func(l *crawl.LogLine, raw []byte, next int64) error {
		if !sel.Has(l) {
			return nil
		}
		return each(raw, next)
	})
}

// maxLogLine bounds a line of crawl.log in bytes.
const maxLogLine = 1 << 20

// Lines hands the whole lines of a directory's crawl.log to each, in their order.
func Lines(ctx context.Context, dir string, each func(l *crawl.LogLine, raw []byte) error) error {
	return linesFrom(ctx, dir, 0, false,
		func(l *crawl.LogLine, raw []byte, _ int64) error { return each(l, raw[:len(raw)-1]) })
}

// followEvery is how often a log that is followed is looked at.
const followEvery = 300 * time.Millisecond

// linesFrom hands the whole lines from a place on to each, with the place behind each of them, and with follow those
// that are written until ctx is done.
func linesFrom(ctx context.Context, dir string, from int64, follow bool,
	each func(l *crawl.LogLine, raw []byte, next int64) error) error {
	file, err := os.Open(filepath.Join(dir, "crawl.log"))
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return err
	}
	in := &lineReader{r: bufio.NewReaderSize(file, 256<<10), at: from}
	for {
		raw, err := in.next()
		switch {
		case ctx.Err() != nil && follow:
			return nil //nolint:nilerr // it was followed until now
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF) && follow:
			select {
			case <-ctx.Done():
			case <-time.After(followEvery):
			}
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: at %d: %w", file.Name(), in.at, err)
		}
		l, err := jsonl.ParseLogLine(raw)
		if err != nil {
			continue // a crash cut it
		}
		if err := each(l, raw, in.at); err != nil {
			return fmt.Errorf("%s: up to %d: %w", file.Name(), in.at, err)
		}
	}
}

// lineReader reads whole lines of a file that grows.
type lineReader struct {
	r    *bufio.Reader
	at   int64  // behind the last line that was returned
	part []byte // of a line that is being written
	line []byte
}

// next returns the next line with its line feed, which is good until the next call; io.EOF where there is none yet.
func (l *lineReader) next() ([]byte, error) {
	for {
		some, err := l.r.ReadSlice('\n')
		l.part = append(l.part, some...)
		switch {
		case err == nil:
			l.line, l.part = append(l.line[:0], l.part...), l.part[:0]
			l.at += int64(len(l.line))
			return l.line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(l.part) > maxLogLine:
			return nil, fmt.Errorf("a line of more than %d bytes", maxLogLine)
		}
	}
}
