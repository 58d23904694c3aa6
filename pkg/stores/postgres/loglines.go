package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const linesSQL = `SELECT ` + offsetColumn + `, ` + lineColumns + ` FROM attempts WHERE job = $1`

// horizonSQL is the oldest transaction that may still write: what older ones wrote is seen by now.
const horizonSQL = `SELECT pg_snapshot_xmin(pg_current_snapshot())::xid::text`

// selected writes the condition of a selection behind linesSQL. since leaves out what transactions before that one
// wrote; empty: nothing.
func selected(s *crawl.LogSelection, from int64, since string, args []any) (string, []any) {
	var b strings.Builder
	b.WriteString(linesSQL)
	add := func(cond string, arg any) {
		args = append(args, arg)
		fmt.Fprintf(&b, " AND "+cond, len(args))
	}
	if from > 0 {
		add("ctid >= ($%d::text)::tid", tid(from))
	}
	if since != "" {
		add("age(xmin) <= age(($%d::text)::xid)", since)
	}
	if len(s.Verdicts) > 0 {
		of := make([]int16, len(s.Verdicts))
		for i, v := range s.Verdicts {
			of[i] = int16(v)
		}
		add("verdict = ANY ($%d::smallint[])", of)
	}
	if len(s.Reasons) > 0 {
		add("coalesce(reason, '') = ANY ($%d::text[])", s.Reasons)
	}
	if len(s.Hosts) > 0 {
		add("host = ANY ($%d::bigint[])", hostNumbers(s.Hosts))
	}
	if len(s.Statuses) > 0 {
		add("(status = ANY ($%[1]d::integer[]) OR status / 100 = ANY ($%[1]d::integer[]))", s.Statuses)
	}
	if !s.Since.IsZero() {
		add("at >= $%d", s.Since)
	}
	if !s.Until.IsZero() {
		add("at < $%d", s.Until)
	}
	if s.URL != "" {
		add("strpos(url, $%d) > 0", clean(s.URL, maxDetail))
	}
	if len(s.Hosts) > 0 || !s.Since.IsZero() || !s.Until.IsZero() { // these are found by an index, in its order
		b.WriteString(" ORDER BY ctid")
	}
	return b.String(), args
}

// hostNumber is hostOf of the keys of a host's URLs.
func hostNumber(hostKey string) int64 {
	sum := sha256.Sum256([]byte(hostKey))
	return int64(binary.BigEndian.Uint64(sum[:8]) ^ 1<<63)
}

func hostNumbers(hostKeys []string) []int64 {
	of := make([]int64, len(hostKeys))
	for i, h := range hostKeys {
		of[i] = hostNumber(h)
	}
	return of
}

// Lines calls each with the selected log lines of a job from an offset on, about in the order in which they were
// written, like crawl.log, and the offset behind each. It holds one line at a time. An error of each stops it.
func (l *AttemptLog) Lines(ctx context.Context, job crawl.JobID, s crawl.LogSelection, from int64,
	each func(l *crawl.LogLine, next int64) error) error {
	_, err := l.lines(ctx, job, s, from, "", each)
	return err
}

// lines is Lines of what transactions from since on wrote; empty: all. It returns the oldest transaction of which it
// may not have seen all.
func (l *AttemptLog) lines(ctx context.Context, job crawl.JobID, s crawl.LogSelection, from int64, since string,
	each func(l *crawl.LogLine, next int64) error) (horizon string, err error) {
	number, known, err := l.s.jobs.find(ctx, job)
	if err != nil || !known {
		return since, err
	}
	err = l.s.report(ctx, fmt.Sprintf("log of job %q", job), func(ctx context.Context, tx pgx.Tx) error {
		// Several workers would mix the order up, and so would beginning where another query is.
		if _, err := tx.Exec(ctx, "SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL synchronize_seqscans = off",
			pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, horizonSQL).Scan(&horizon); err != nil {
			return err
		}
		sql, args := selected(&s, from, since, []any{number})
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var at int64
			line, err := scanLine(offsetRow{rows, &at})
			if err != nil {
				return err
			}
			line.Job = job
			if err := each(&line, at+1); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return horizon, err
}

// lateBlocks is how far back a log that is followed is read again: lines of transactions that ended later are before
// those that were read already.
const lateBlocks = 32

// maxGiven bounds the lines that Follow knows it has given: those of lateBlocks are a tenth as many.
const maxGiven = 50_000

// Follow calls each with the selected lines from an offset on, each once, also those that are written, until ctx is
// done or each returns an error. A line whose transaction lasts until some thousand others were written may be missed.
func (l *AttemptLog) Follow(ctx context.Context, job crawl.JobID, s crawl.LogSelection, from int64, every time.Duration,
	each func(l *crawl.LogLine, next int64) error) error {
	given, begin, last := map[int64]bool{}, from, from
	prune := func() {
		begin = max(from, last-lateBlocks*blockLines)
		for at := range given {
			if at < begin {
				delete(given, at)
			}
		}
	}
	since := "" // all, at first
	for {
		horizon, err := l.lines(ctx, job, s, begin, since, func(line *crawl.LogLine, next int64) error {
			if given[next] {
				return nil
			}
			if given[next], last = true, max(last, next); len(given) > maxGiven {
				prune()
			}
			return each(line, next)
		})
		if err != nil {
			return err
		}
		since = horizon
		prune()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(every):
		}
	}
}
