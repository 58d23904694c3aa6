package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// A line's offset is where it lies in the job's partition of the attempts: the block times 65,536, and the place in the
// block. Lines are never changed, so it stays; a crash or a roll-back may leave a place free that a later line takes.
const (
	blockLines = 1 << 16
	// windowBlocks is how many blocks (8 KiB) are read at a time, some 10,000 lines: the server sorts those, and not all
	// the rest of the log.
	windowBlocks = 256
)

const (
	offsetColumn = `((ctid::text::point)[0]::bigint * 65536 + (ctid::text::point)[1]::bigint)`
	linesFromSQL = `SELECT ` + offsetColumn + `, ` + lineColumns + ` FROM attempts
		WHERE job = $1 AND ctid >= ($2::text)::tid AND ctid < ($3::text)::tid ORDER BY ctid LIMIT $4`
	attemptsFromSQL = `SELECT ` + offsetColumn + `, ` + lineColumns + ` FROM attempts
		WHERE job = $1 AND host = $2 AND hash = $3 AND ctid >= ($4::text)::tid ORDER BY ctid LIMIT $5`
	logBlocksSQL = `SELECT coalesce(pg_relation_size(to_regclass($1)), 0) / current_setting('block_size')::bigint`
)

// tid is a place of a partition as SQL has it.
func tid(offset int64) string { return fmt.Sprintf("(%d,%d)", offset/blockLines, offset%blockLines) }

// LinesFrom implements crawl.LogList.
func (l *AttemptLog) LinesFrom(ctx context.Context, job crawl.JobID, from int64,
	limit int) (lines []crawl.LogLine, next int64, err error) {
	next = max(from, 0)
	number, known, err := l.s.jobs.find(ctx, job)
	if err != nil || !known {
		return nil, next, err
	}
	err = l.s.report(ctx, fmt.Sprintf("log of job %q", job), func(ctx context.Context, tx pgx.Tx) error {
		var blocks int64
		if err := tx.QueryRow(ctx, logBlocksSQL, fmt.Sprintf("attempts_%d", number)).Scan(&blocks); err != nil {
			return err
		}
		for block := next / blockLines; block < blocks && len(lines) < limit; block += windowBlocks {
			begin := max(next, block*blockLines)
			rows, err := tx.Query(ctx, linesFromSQL, number, tid(begin), tid((block+windowBlocks)*blockLines), limit-len(lines))
			if err == nil {
				lines, next, err = collectLines(rows, job, lines, next)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return lines, next, err
}

// AttemptsFrom implements crawl.LogList.
func (l *AttemptLog) AttemptsFrom(ctx context.Context, job crawl.JobID, u weburl.URL, from int64,
	limit int) (lines []crawl.LogLine, next int64, err error) {
	next = max(from, 0)
	number, known, err := l.s.jobs.find(ctx, job)
	if err != nil || !known {
		return nil, next, err
	}
	err = l.s.report(ctx, fmt.Sprintf("log lines of URL %s", u), func(ctx context.Context, tx pgx.Tx) error {
		k := u.Key()
		rows, err := tx.Query(ctx, attemptsFromSQL, number, hostOf(k), hashOf(k), tid(next), limit)
		if err == nil {
			lines, next, err = collectLines(rows, job, nil, next)
		}
		return err
	})
	return lines, next, err
}

// collectLines appends the lines of a query, and returns the offset behind the last.
func collectLines(rows pgx.Rows, job crawl.JobID, lines []crawl.LogLine, next int64) ([]crawl.LogLine, int64, error) {
	defer rows.Close()
	for rows.Next() {
		var at int64
		line, err := scanLine(offsetRow{rows, &at})
		if err != nil {
			return lines, next, err
		}
		line.Job, next = job, at+1
		lines = append(lines, line)
	}
	return lines, next, rows.Err()
}

// offsetRow is a row with an offset before the columns of a line.
type offsetRow struct {
	pgx.CollectableRow
	at *int64
}

// Scan implements pgx.CollectableRow.
func (r offsetRow) Scan(dest ...any) error {
	return r.CollectableRow.Scan(append([]any{r.at}, dest...)...)
}
