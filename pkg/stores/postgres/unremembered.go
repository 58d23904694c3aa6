package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

var _ crawl.Unremembered = (*Revisits)(nil)

// unrememberedSQL reads on from a key. A row without url was never claimed: there is no task of it.
const unrememberedSQL = `
	SELECT u.host, u.hash, u.url, u.kind, u.task
	FROM urls u LEFT JOIN revisits r ON r.job = $1 AND r.host = u.host AND r.hash = u.hash
	WHERE u.job = $1 AND u.state = 2 AND u.url IS NOT NULL AND u.kind IN (0, 2) AND (u.host, u.hash) > ($2, $3)
		AND (r.visits IS NULL AND u.verdict = 1 AND u.status / 100 = 2 OR r.bucket IS NULL AND r.visits <= u.visit)
	ORDER BY u.host, u.hash LIMIT $4`

// unrememberedRows is how many rows are handed on at once.
const unrememberedRows = 256

// EachUnremembered implements crawl.Unremembered. It reads the rows of a job in the order of their keys, a batch with
// each statement, so that no version of a row is kept for longer than a batch takes.
func (r *Revisits) EachUnremembered(ctx context.Context, job crawl.JobID, each func([]crawl.Task) error) error {
	return r.s.inTurn(func(at *Store) error { return (&Revisits{at}).eachUnremembered(ctx, job, each) })
}

func (r *Revisits) eachUnremembered(ctx context.Context, job crawl.JobID, each func([]crawl.Task) error) error {
	number, known, err := r.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	host, hash := int64(-1<<63), pgtype.UUID{Valid: true}
	for {
		var tasks []crawl.Task
		err := r.s.report(ctx, fmt.Sprintf("pages of job %q that are not visited again", job),
			func(ctx context.Context, tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, walkSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
					return err
				}
				rows, err := tx.Query(ctx, unrememberedSQL, number, host, hash, unrememberedRows)
				if err != nil {
					return err
				}
				var url string
				var kind int16
				var stored []byte
				_, err = pgx.ForEachRow(rows, []any{&host, &hash, &url, &kind, &stored}, func() error {
					at, err := storedURL(&url)
					if err != nil {
						return err
					}
					t, err := restoreTask(job, at, crawl.Kind(kind), stored)
					tasks = append(tasks, t)
					return err
				})
				return err
			})
		if err != nil || len(tasks) == 0 {
			return err
		}
		if err := each(tasks); err != nil || len(tasks) < unrememberedRows {
			return err
		}
	}
}
