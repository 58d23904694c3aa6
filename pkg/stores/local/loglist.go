package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var _ crawl.LogList = (*AttemptLog)(nil)

// errPageFull ends a walk through crawl.log.
var errPageFull = errors.New("the page is full")

// LinesFrom implements crawl.LogList. Offsets are bytes. A line that is damaged is passed over.
func (l *AttemptLog) LinesFrom(ctx context.Context, job crawl.JobID, from int64,
	limit int) ([]crawl.LogLine, int64, error) {
	return l.linesFrom(ctx, job, from, limit)
}

// searched is how much of the log is looked through at once.
const searched = 1 << 20

// AttemptsFrom implements crawl.LogList. There is no index: it looks for the URL in the bytes of the log until the page
// is full or the log ends, some gigabytes a second, and reads the lines that have it.
func (l *AttemptLog) AttemptsFrom(ctx context.Context, job crawl.JobID, u weburl.URL, from int64, limit int) (
	lines []crawl.LogLine, next int64, err error) {
	needle := logNeedle(u)
	end := l.length()
	next = min(max(from, 0), end)
	buf := make([]byte, searched)
	for next < end && len(lines) < limit {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		buf = buf[:min(int64(cap(buf)), end-next)]
		if _, err := l.file.ReadAt(buf, next); err != nil {
			return nil, 0, fmt.Errorf("read %s: %w", l.file.Name(), err)
		}
		whole := bytes.LastIndexByte(buf, '\n') + 1
		switch {
		case whole == 0 && next+int64(len(buf)) == end: // it has no end: it is not a line yet
			return lines, next, nil
		case whole == 0: // a longer line
			buf = make([]byte, 2*cap(buf))
		}
		done := 0
		for done < whole && len(lines) < limit {
			var line []byte
			if line, done = lineWith(buf[:whole], done, needle); line == nil {
				continue
			}
			if parsed, err := jsonl.ParseLogLine(line); err == nil { // an audit tells of damaged lines
				parsed.Job = job
				lines = append(lines, *parsed)
			}
		}
		next += int64(done)
	}
	return lines, next, nil
}

// maxSIMD is how long a text may be that is looked for fastest.
const maxSIMD = 60

// lineWith returns the first line behind an offset that has the needle, and where it ends; nil, the end: there is none.
func lineWith(lines []byte, from int, needle []byte) (line []byte, end int) {
	tail := needle[max(0, len(needle)-maxSIMD):] // the ends of URLs differ, their beginnings do not
	for from < len(lines) {
		at := bytes.Index(lines[from:], tail)
		if at < 0 {
			return nil, len(lines)
		}
		at += from
		start := bytes.LastIndexByte(lines[:at], '\n') + 1
		from = at + bytes.IndexByte(lines[at:], '\n') + 1
		if line := lines[start:from]; bytes.Contains(line, needle) {
			return line, from
		}
	}
	return nil, len(lines)
}

// logNeedle is how a line about u spells it.
func logNeedle(u weburl.URL) []byte {
	const behind = `,"kind":`
	line := jsonl.AppendLogLine(nil, &crawl.LogLine{URL: u})
	from, to := bytes.Index(line, []byte(`"url":`)), bytes.Index(line, []byte(behind))
	return line[from : to+len(behind)]
}

func (l *AttemptLog) linesFrom(ctx context.Context, job crawl.JobID, from int64, limit int) (
	lines []crawl.LogLine, next int64, err error) {
	end := l.length()
	next = min(max(from, 0), end)
	if limit <= 0 {
		return nil, next, nil
	}
	begin := next
	err = eachLine(ctx, io.NewSectionReader(l.file, begin, end-begin), logName, end-begin,
		func(at int64, text []byte) error {
			next = begin + at + int64(len(text))
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
