package explore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// lineLength is how many requests the picture of a host shows.
const lineLength = 300

// Host implements Reader.
func (x *Explorer) Host(ctx context.Context, id crawl.JobID, key string) (*HostStory, error) {
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &HostStory{Index: ix.Index(), Line: []Request{}}
	var number int64
	known := false
	err = each(ctx, ix.read, "SELECT "+hostColumns+", id FROM hosts WHERE key = ?", []any{key},
		func(scan func(...any) error) error {
			s.Host, err = scanHost(func(into ...any) error { return scan(append(into, &number)...) })
			known = true
			return err
		})
	if err != nil {
		return nil, err
	}
	if ix.source().Live != nil {
		now, err := ix.source().Live.Hosts(ctx, id)
		if err != nil {
			return nil, err
		}
		for i := range now {
			if now[i].Key == key {
				known = true
				s.live(&now[i])
			}
		}
	}
	if !known {
		return nil, fmt.Errorf("host %q of execution %q: %w", plain(key, 100), id, ErrNotFound)
	}
	if s.Key = key; s.Classes == nil {
		s.Classes = map[string]int64{}
	}
	s.Line, err = ix.hostLine(ctx, number)
	return s, err
}

// hostLine reads the last requests to a host.
func (x *index) hostLine(ctx context.Context, host int64) ([]Request, error) {
	var offs []int64
	err := each(ctx, x.read, "SELECT off FROM requests WHERE host = ? ORDER BY off DESC LIMIT ?", []any{host, lineLength},
		func(scan func(...any) error) error {
			var off int64
			err := scan(&off)
			offs = append(offs, off)
			return err
		})
	if err != nil {
		return nil, err
	}
	slices.Reverse(offs)
	lines, err := x.logLines(offs)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(lines, func(a, b *crawl.LogLine) int { return a.At.Compare(b.At) })
	return x.paced(lines), nil
}

// logLines reads lines of crawl.log at offsets. Damaged ones are left out.
func (x *index) logLines(offs []int64) (lines []*crawl.LogLine, err error) {
	err = x.eachLogLine(offs, func(_ int, l *crawl.LogLine) { lines = append(lines, l) })
	return lines, err
}

// eachLogLine calls use with the lines at offsets, but for damaged ones.
func (x *index) eachLogLine(offs []int64, use func(i int, l *crawl.LogLine)) (err error) {
	if len(offs) == 0 {
		return nil
	}
	f, err := os.Open(x.logFile())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReaderSize(nil, 4<<10)
	for i, off := range offs {
		r.Reset(io.NewSectionReader(f, off, maxLogLine))
		text, err := r.ReadBytes('\n')
		if err != nil {
			continue
		}
		if l, err := jsonl.ParseLogLine(text); err == nil {
			use(i, l)
		}
	}
	return nil
}

// maxLogLine bounds a line of crawl.log.
const maxLogLine = 1 << 20

// paced makes requests of the lines of a host, with the rest before each.
func (x *index) paced(lines []*crawl.LogLine) []Request {
	out := make([]Request, 0, len(lines))
	var end time.Time
	for i, l := range lines {
		start := l.At.Add(-l.Duration)
		r := Request{Start: start, MS: float64(l.Duration.Microseconds()) / 1000,
			FirstMS: float64(l.FirstByte.Microseconds()) / 1000, Class: classNames[classOf(l.Status)], Status: l.Status,
			Verdict: l.Verdict.String(), Reason: plain(l.Reason, maxWord), Kind: l.Kind.String(),
			URL: plain(l.URL.String(), maxURL), Gap: "first"}
		if i > 0 {
			gap := max(0, start.Sub(end))
			r.GapMS, r.Gap = float64(gap.Milliseconds()), x.gapReason(gap, lines[i-1])
		}
		if l.At.After(end) {
			end = l.At
		}
		out = append(out, r)
	}
	return out
}

// gapReason returns why a host rested after a request.
func (x *index) gapReason(gap time.Duration, before *crawl.LogLine) string {
	if x.source().Job == nil {
		return ""
	}
	p := &x.source().Job.Politeness
	adaptive := min(time.Duration(p.DownloadFactor*float64(before.Duration)), p.MaxAdaptive.D())
	near := func(want time.Duration) bool {
		return want > 0 && gap >= want*9/10 && gap <= want+want/5+500*time.Millisecond
	}
	switch {
	case strings.Contains(before.Detail, "Retry-After") && gap > p.Delay.D():
		return "retry-after"
	case (before.Status == 429 || before.Status/100 == 5 || before.Status == 0) && gap > p.Delay.D()*3/2:
		return "backoff"
	case adaptive > p.Delay.D() && near(adaptive):
		return "adaptive"
	case near(p.Delay.D()) || gap <= p.Delay.D():
		return "delay"
	}
	return "idle"
}
