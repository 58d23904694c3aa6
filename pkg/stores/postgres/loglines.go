package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const linesSQL = `SELECT ` + lineColumns + ` FROM attempts
	WHERE job = $1 AND ($2::smallint[] IS NULL OR verdict = ANY ($2)) AND ($3::text[] IS NULL OR reason = ANY ($3))`

// Lines calls each with the log lines of a job, about in the order in which they were written, like crawl.log. With
// verdicts or reasons given, it selects the lines that have one of them. It holds one line at a time. An error of each
// stops it.
func (l *AttemptLog) Lines(ctx context.Context, job crawl.JobID, verdicts []crawl.Verdict, reasons []string, each func(*crawl.LogLine) error) error {
	number, known, err := l.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	var of []int16
	for _, v := range verdicts {
		of = append(of, int16(v))
	}
	return l.s.report(ctx, fmt.Sprintf("log of job %q", job), func(ctx context.Context, tx pgx.Tx) error {
		// Several workers would mix the order up.
		if _, err := tx.Exec(ctx, "SET LOCAL max_parallel_workers_per_gather = 0"); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, linesSQL, number, of, reasons)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			line, err := scanLine(rows)
			if err != nil {
				return err
			}
			line.Job = job
			if err := each(&line); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
