package local

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var _ crawl.LogList = (*AttemptLog)(nil)

// errPageFull ends a walk through crawl.log.
var errPageFull = errors.New("the page is full")

// LinesFrom implements crawl.LogList. Offsets are bytes. A line that is damaged is passed over.
func (l *AttemptLog) LinesFrom(ctx context.Context, job crawl.JobID, from int64, limit int) ([]crawl.LogLine, int64, error) {
	return l.linesFrom(ctx, job, from, limit, func([]byte) bool { return true })
}

// AttemptsFrom implements crawl.LogList. There is no index: it reads on until the page is full or the log ends, about a
// gigabyte a second.
func (l *AttemptLog) AttemptsFrom(ctx context.Context, job crawl.JobID, u weburl.URL, from int64, limit int) ([]crawl.LogLine, int64, error) {
	needle := logNeedle(u)
	return l.linesFrom(ctx, job, from, limit, func(text []byte) bool { return bytes.Contains(text, needle) })
}

// logNeedle is how a line about u spells it.
func logNeedle(u weburl.URL) []byte {
	line := jsonl.AppendLogLine(nil, &crawl.LogLine{URL: u})
	from, to := bytes.Index(line, []byte(`"url":`)), bytes.Index(line, []byte(`,"kind":`))
	return line[from:to]
}

func (l *AttemptLog) linesFrom(ctx context.Context, job crawl.JobID, from int64, limit int, wanted func(text []byte) bool) (
	lines []crawl.LogLine, next int64, err error) {
	end := l.length()
	next = min(max(from, 0), end)
	if limit <= 0 {
		return nil, next, nil
	}
	begin := next
	err = eachLine(ctx, io.NewSectionReader(l.file, begin, end-begin), logName, end-begin, func(at int64, text []byte) error {
		next = begin + at + int64(len(text))
		if !wanted(text) {
			return nil
		}
		line, err := jsonl.ParseLogLine(text)
		if err != nil {
			return nil //nolint:nilerr // an audit tells of damaged lines
		}
		line.Job = job
		if lines = append(lines, *line); len(lines) == limit {
			return errPageFull
		}
		return nil
	})
	if errors.Is(err, errPageFull) {
		err = nil
	}
	return lines, next, err
}
