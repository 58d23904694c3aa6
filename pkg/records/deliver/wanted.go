package deliver

import (
	"bytes"
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/export"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// wanted is the record of a line that the output writes, with its line; nil: it does not, and n counts why.
func (w *progress) wanted(n *mark, line []byte) ([]byte, *crawl.Record) {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil, nil
	}
	line = unmarked(line)
	r, err := jsonl.ParseRecord(line)
	if err != nil { // an audit tells; it has no row
		n.Faults++
		w.log.Warn("a line of the records is damaged and goes to no output", "file", w.o.File, "byte", n.In, "error", err)
		return nil, nil
	}
	n.Seen++
	if w.o.Options.Keep != nil && !w.o.Options.Keep(r) {
		n.Skipped++
		return nil, nil
	}
	if w.o.When == nil {
		return line, r
	}
	switch yes, err := w.o.When(r); {
	case err != nil:
		n.Faults++
		w.log.Warn("the condition of an output failed: the record is not written to it", "file", w.o.File, "url", r.URL,
			"error", err)
	case yes:
		return line, r
	default:
		n.Skipped++
	}
	return nil, nil
}

// unmarked is a line as it was before a later one replaced it.
func unmarked(line []byte) []byte {
	if jsonl.IsReplaced(line) {
		return jsonl.Unmarked(nil, line)
	}
	return line
}

// addTo adds the rows of the records behind next to a table, and counts them in next, until full says that it is enough
// or there are no more.
func (w *progress) addTo(ctx context.Context, table *export.Table, next *mark, full func() bool) error {
	from := next.In
	return w.source.EachLine(ctx, from, func(end int64, line []byte) (bool, error) {
		if row, r := w.wanted(next, line); r != nil {
			if err := table.Add(row, r); err != nil {
				return false, err
			}
			next.Rows++
		}
		next.Last, next.In, next.Sum = next.In, end, sumOf(line)
		return end-from < maxRead && !full(), nil
	})
}
