package directory

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Events implements control.Service: it reads crawl.log, whether the crawl runs or not.
func (s *Service) Events(ctx context.Context, id crawl.JobID, sel control.Selection, each func([]byte) error) error {
	dir, err := Find(s.named)
	if err == nil && id != "" {
		err = s.with(ctx, id, func(*Directory) error { return nil }) // it is that job
	}
	if err != nil {
		return err
	}
	return Lines(ctx, dir, func(l *crawl.LogLine, raw []byte) error {
		if !sel.Has(l) {
			return nil
		}
		return each(append(raw, '\n'))
	})
}

// maxLogLine bounds a line of crawl.log in bytes.
const maxLogLine = 1 << 20

// Lines hands the whole lines of a directory's crawl.log to each, in their order.
func Lines(ctx context.Context, dir string, each func(l *crawl.LogLine, raw []byte) error) error {
	file, err := os.Open(filepath.Join(dir, "crawl.log"))
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 256<<10), maxLogLine)
	for n := 1; lines.Scan(); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		l, err := jsonl.ParseLogLine(lines.Bytes())
		if err != nil {
			continue // it is being written, or a crash cut it
		}
		if err := each(l, slices.Clip(lines.Bytes())); err != nil {
			return fmt.Errorf("%s: line %d: %w", file.Name(), n, err)
		}
	}
	return lines.Err()
}
