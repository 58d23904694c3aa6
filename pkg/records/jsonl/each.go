package jsonl

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// EachRecord calls each with every record of a pages.jsonl, in its order, but for those that a later one replaces. An
// error of each ends the reading and is returned. A last line without an end was not written whole: it is left out.
func EachRecord(r io.Reader, each func(*crawl.Record) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read pages.jsonl: %w", err)
		case IsReplaced(line):
			continue
		}
		rec, err := ParseRecord(line)
		if err != nil {
			return fmt.Errorf("pages.jsonl, line %d: %w", n, err)
		}
		if err := each(rec); err != nil {
			return err
		}
	}
}
