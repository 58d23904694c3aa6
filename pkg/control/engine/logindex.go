package engine

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// LogIndex knows where in crawl.log the lines of a URL stand, up to some place. A line there may be another URL's.
type LogIndex interface {
	Lines(ctx context.Context, id crawl.JobID, u weburl.URL) (offs []int64, upTo int64, err error)
}

// SetLogIndex has the attempts of a URL be found by an index. Call it before the engine is asked.
func (e *Engine) SetLogIndex(x LogIndex) { e.lines = x }

// indexedLog is a crawl.log with an index of its URLs. What the index has not read yet, or cannot tell, is looked for
// in the log.
type indexedLog struct {
	crawl.LogList
	index LogIndex
}

// AttemptsFrom implements crawl.LogList.
func (l indexedLog) AttemptsFrom(ctx context.Context, job crawl.JobID, u weburl.URL, from int64, limit int) (
	lines []crawl.LogLine, next int64, err error) {
	offs, upTo, err := l.index.Lines(ctx, job, u)
	if err != nil {
		return l.LogList.AttemptsFrom(ctx, job, u, from, limit)
	}
	for _, off := range offs {
		if off < from || len(lines) == limit {
			continue
		}
		line, end, err := l.LinesFrom(ctx, job, off, 1)
		if err != nil {
			return nil, 0, err
		}
		if len(line) > 0 && line[0].URL.String() == u.String() {
			lines, next = append(lines, line[0]), end
		}
	}
	if len(lines) == limit {
		return lines, next, nil
	}
	rest, next, err := l.LogList.AttemptsFrom(ctx, job, u, max(from, upTo), limit-len(lines))
	return append(lines, rest...), next, err
}
