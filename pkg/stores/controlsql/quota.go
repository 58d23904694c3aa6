package controlsql

import (
	"context"
	"database/sql"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// mayStart looks whether the quota of an execution permits it. What it reads does not change before the transaction
// ends: others write after it.
func mayStart(ctx context.Context, tx *Tx, x *workflow.Execution) error {
	if x.Quota == nil || x.Account == "" {
		return nil
	}
	u, err := usage(ctx, tx, x.Account, x.Today)
	if err != nil {
		return err
	}
	if over := x.Quota.Starts(u); over != nil {
		return over
	}
	return nil
}

// reader is a database or a transaction.
type reader interface {
	QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row
}

// Usage implements workflow.Store.
func (s *Store) Usage(ctx context.Context, account string, day workflow.Day) (workflow.Usage, error) {
	return usage(ctx, s.read, account, day)
}

func usage(ctx context.Context, r reader, account string, day workflow.Day) (workflow.Usage, error) {
	u := workflow.Usage{Since: day}
	err := r.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM executions WHERE account = ?1 AND ended_at IS NULL),
		(SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM executions WHERE account = ?1 AND bytes > 0),
		(SELECT CAST(coalesce(sum(total - base), 0) AS BIGINT) FROM day_pages WHERE account = ?1 AND day = ?2 AND total > base)`,
		account, day).Scan(&u.Running, &u.Bytes, &u.Pages)
	return u, err
}

// CountPages implements workflow.Store.
func (s *Store) CountPages(ctx context.Context, account string, id crawl.JobID, day workflow.Day, pages int64) error {
	return s.exec(ctx, false, `INSERT INTO day_pages (account, day, execution, base, total)
		VALUES (?1, ?2, ?3, (SELECT coalesce(max(total), 0) FROM day_pages WHERE execution = ?3 AND day < ?2), ?4)
		ON CONFLICT (execution, day) DO UPDATE SET total = excluded.total WHERE excluded.total > day_pages.total`,
		account, day, id, pages)
}

// ForgetPages implements workflow.Store.
func (s *Store) ForgetPages(ctx context.Context, before workflow.Day) error {
	return s.exec(ctx, false, `DELETE FROM day_pages WHERE day < ? AND (
		EXISTS (SELECT 1 FROM day_pages later WHERE later.execution = day_pages.execution AND later.day > day_pages.day)
		OR NOT EXISTS (SELECT 1 FROM executions x WHERE x.id = day_pages.execution))`, before)
}

// bytesOf is what an execution holds for the quota of its account.
func bytesOf(x *workflow.Execution) int64 {
	if x.Stats == nil || x.Discard.Deleted() {
		return 0
	}
	return x.Stats.Bytes
}
