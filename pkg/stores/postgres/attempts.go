package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// AttemptLog is crawl.log. Lines of calls that come at the same time share one statement.
type AttemptLog struct {
	s *Store
	g gather[crawl.LogLine]
}

var _ crawl.AttemptLog = (*AttemptLog)(nil)

func newAttemptLog(s *Store) *AttemptLog {
	l := &AttemptLog{s: s}
	l.g.write = l.write
	return l
}

// Append implements crawl.AttemptLog. A call made again writes its lines again.
func (l *AttemptLog) Append(ctx context.Context, lines ...crawl.LogLine) error {
	return l.g.do(ctx, lines)
}

func (l *AttemptLog) close() { l.g.close() }

const lineColumns = `at, kind, verdict, status, reason, detail, bytes, duration_us, ttfb_us, attempt, depth, content_type, digest, addr, url,
	referrer, location, epoch, visit`

const appendSQL = `
	INSERT INTO attempts (job, host, hash, ` + lineColumns + `)
	SELECT * FROM unnest($1::integer[], $2::bigint[], $3::uuid[], $4::timestamptz[], $5::smallint[], $6::smallint[], $7::integer[],
		$8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::integer[], $14::integer[], $15::text[], $16::bytea[],
		$17::text[], $18::text[], $19::text[], $20::text[], $21::integer[], $22::integer[])`

func (l *AttemptLog) write(ctx context.Context, lines []crawl.LogLine) error {
	return l.s.do(ctx, fmt.Sprintf("write %d log lines, the first of %s", len(lines), lines[0].URL),
		func(ctx context.Context) error {
			lines, jobs, err := l.numbers(ctx, lines)
			if err != nil || len(lines) == 0 {
				return err
			}
			_, err = l.s.pool.Exec(ctx, appendSQL, append([]any{jobs}, lineArgs(lines)...)...)
			return err
		})
}

// numbers returns the numbers of the lines' jobs, and the lines without those of jobs that were deleted.
func (l *AttemptLog) numbers(ctx context.Context,
	lines []crawl.LogLine) (kept []crawl.LogLine, jobs []int32, err error) {
	for i := range lines {
		ctx := ctx
		if lines[i].Epoch > 0 {
			ctx = crawl.UnderEpoch(ctx, lines[i].Job, lines[i].Epoch)
		}
		n, err := l.s.jobs.number(ctx, lines[i].Job)
		switch {
		case errors.Is(err, crawl.ErrDiscarded):
		case err != nil:
			return nil, nil, err
		default:
			kept, jobs = append(kept, lines[i]), append(jobs, n)
		}
	}
	return kept, jobs, nil
}

// lineArgs are the columns of appendSQL from host on.
func lineArgs(lines []crawl.LogLine) []any {
	keys := pick(lines, func(l *crawl.LogLine) weburl.Key { return l.URL.Key() })
	hosts := make([]int64, len(keys))
	for i, k := range keys {
		hosts[i] = hostOf(k)
	}
	micros := func(d time.Duration) int64 { return d.Microseconds() }
	return []any{
		hosts, makeHashes(keys),
		pick(lines, func(l *crawl.LogLine) time.Time { return l.At }),
		pick(lines, func(l *crawl.LogLine) int16 { return int16(l.Kind) }),
		pick(lines, func(l *crawl.LogLine) int16 { return int16(l.Verdict) }),
		pick(lines, func(l *crawl.LogLine) int32 { return int32(l.Status) }),
		pick(lines, func(l *crawl.LogLine) *string { return optional(l.Reason, maxReason) }),
		pick(lines, func(l *crawl.LogLine) *string { return optional(l.Detail, maxDetail) }),
		pick(lines, func(l *crawl.LogLine) int64 { return l.Bytes }),
		pick(lines, func(l *crawl.LogLine) int64 { return micros(l.Duration) }),
		pick(lines, func(l *crawl.LogLine) int64 { return micros(l.FirstByte) }),
		pick(lines, func(l *crawl.LogLine) int32 { return int32(l.Attempt) }),
		pick(lines, func(l *crawl.LogLine) int32 { return int32(l.Depth) }),
		pick(lines, func(l *crawl.LogLine) *string { return optional(l.ContentType, maxKey) }),
		pick(lines, func(l *crawl.LogLine) []byte { return digestBytes(l.Digest) }),
		pick(lines, func(l *crawl.LogLine) *string { return addrText(l.Addr) }),
		pick(lines, func(l *crawl.LogLine) string { return l.URL.String() }),
		pick(lines, func(l *crawl.LogLine) *string { return urlText(l.Referrer) }),
		pick(lines, func(l *crawl.LogLine) *string { return urlText(l.Location) }),
		pick(lines, func(l *crawl.LogLine) int32 { return int32(crawl.EpochOf(l.Epoch)) }),
		pick(lines, func(l *crawl.LogLine) int32 { return int32(l.Visit) }),
	}
}

func pick[T any](lines []crawl.LogLine, of func(*crawl.LogLine) T) []T {
	out := make([]T, len(lines))
	for i := range lines {
		out[i] = of(&lines[i])
	}
	return out
}

func digestBytes(d crawl.Digest) []byte {
	if d.IsZero() {
		return nil
	}
	return d[:]
}

func addrText(a netip.Addr) *string {
	if !a.IsValid() {
		return nil
	}
	s := a.String()
	return &s
}

func urlText(u weburl.URL) *string {
	if u.IsZero() {
		return nil
	}
	s := u.String()
	return &s
}

const attemptsSQL = `SELECT ` + lineColumns +
	` FROM attempts WHERE job = $1 AND host = $2 AND hash = $3 ORDER BY at DESC, attempt DESC LIMIT $4`

// Attempts returns the last lines, at most limit, about a URL in the order in which they happened.
func (l *AttemptLog) Attempts(ctx context.Context, job crawl.JobID, k weburl.Key,
	limit int) (lines []crawl.LogLine, err error) {
	err = l.s.do(ctx, fmt.Sprintf("log lines of URL %s", k), func(ctx context.Context) error {
		lines = nil
		number, known, err := l.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		rows, err := l.s.pool.Query(ctx, attemptsSQL, number, hostOf(k), hashOf(k), limit)
		if err != nil {
			return err
		}
		lines, err = pgx.CollectRows(rows, scanLine)
		return err
	})
	slices.Reverse(lines)
	for i := range lines {
		lines[i].Job = job
	}
	return lines, err
}

// storedURL reads a URL from its column, which may be of another scheme; the zero URL from none.
func storedURL(s *string) (weburl.URL, error) {
	if text(s) == "" {
		return weburl.URL{}, nil
	}
	return weburl.ParseStored([]byte(*s))
}

func scanLine(row pgx.CollectableRow) (crawl.LogLine, error) {
	var l crawl.LogLine
	var kind, verdict int16
	var reason, detail, contentType, addr, url, referrer, location *string
	var took, first int64
	var digest []byte
	var epoch int32
	err := row.Scan(&l.At, &kind, &verdict, &l.Status, &reason, &detail, &l.Bytes, &took, &first, &l.Attempt, &l.Depth,
		&contentType, &digest, &addr, &url, &referrer, &location, &epoch, &l.Visit)
	if err != nil {
		return l, err
	}
	l.At, l.Kind, l.Verdict = l.At.UTC(), crawl.Kind(kind), crawl.Verdict(verdict)
	l.Duration, l.FirstByte = time.Duration(took)*time.Microsecond, time.Duration(first)*time.Microsecond
	l.Reason, l.Detail, l.ContentType = text(reason), text(detail), text(contentType)
	copy(l.Digest[:], digest)
	if epoch > 1 {
		l.Epoch = uint32(epoch)
	}
	if addr != nil {
		if l.Addr, err = netip.ParseAddr(*addr); err != nil {
			return l, err
		}
	}
	for of, s := range map[*weburl.URL]*string{&l.URL: url, &l.Referrer: referrer, &l.Location: location} {
		if *of, err = storedURL(s); err != nil {
			return l, err
		}
	}
	return l, nil
}
