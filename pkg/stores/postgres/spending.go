package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Spending counts what jobs spend of their bounds.
type Spending struct{ s *Store }

var _ crawl.Spending = (*Spending)(nil)

// Spending returns what jobs spend of their bounds.
func (s *Store) Spending() *Spending { return &Spending{s} }

const (
	spendSQL = `INSERT INTO spent AS s (job, bytes, took, counted) VALUES ($1, $2, 0, $3)
		ON CONFLICT (job) DO UPDATE SET bytes = s.bytes + $2, counted = greatest(s.counted, $3),
		took = s.took + CASE WHEN $3 > s.counted AND $3 - s.counted <= $4::interval
			THEN (extract(epoch FROM $3 - s.counted) * 1000000)::bigint ELSE 0 END
		RETURNING bytes, took`
	spentSQL = `SELECT bytes, took FROM spent WHERE job = $1`
)

// Spend implements crawl.Spending. A call that is repeated after a lost connection may count its bytes twice.
func (p *Spending) Spend(ctx context.Context, job crawl.JobID, bytes int64,
	now time.Time) (spent crawl.Spent, err error) {
	err = p.s.do(ctx, fmt.Sprintf("count what job %q spends", job), func(ctx context.Context) error {
		number, err := p.s.jobs.number(ctx, job)
		if err != nil {
			return err
		}
		return scanSpent(p.s.pool.QueryRow(ctx, spendSQL, number, bytes, now, crawl.SpendGap), &spent)
	})
	return spent, err
}

// Spent implements crawl.Spending.
func (p *Spending) Spent(ctx context.Context, job crawl.JobID) (spent crawl.Spent, err error) {
	err = p.s.do(ctx, fmt.Sprintf("what job %q spent", job), func(ctx context.Context) error {
		number, known, err := p.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		err = scanSpent(p.s.pool.QueryRow(ctx, spentSQL, number), &spent)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return spent, err
}

func scanSpent(row pgx.Row, to *crawl.Spent) error {
	var micros int64
	if err := row.Scan(&to.Bytes, &micros); err != nil {
		return err
	}
	to.Time = time.Duration(micros) * time.Microsecond
	return nil
}
