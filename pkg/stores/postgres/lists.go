package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var (
	_ crawl.EntryList = (*URLs)(nil)
	_ crawl.LogList   = (*AttemptLog)(nil)
)

const entriesAfterSQL = `SELECT u.host, u.hash, url, ` + entryColumns + `,
		(SELECT k.reason FROM unkept k WHERE k.job = $1 AND k.host = u.host AND k.hash = u.hash)
	FROM urls u WHERE u.job = $1 AND (u.host, u.hash) > ($2, $3) ORDER BY u.host, u.hash LIMIT $4`

// EntriesAfter implements crawl.EntryList. It walks along the index.
func (u *URLs) EntriesAfter(ctx context.Context, job crawl.JobID, after weburl.Key,
	limit int) (list []crawl.LedgerRow, err error) {
	return walk(u.s, after, limit, func(at *Store, n int) ([]crawl.LedgerRow, error) {
		return (&URLs{at}).entriesAfter(ctx, job, after, n)
	})
}

func (u *URLs) entriesAfter(ctx context.Context, job crawl.JobID, after weburl.Key,
	limit int) (list []crawl.LedgerRow, err error) {
	number, known, err := u.s.jobs.find(ctx, job)
	if err != nil || !known {
		return nil, err
	}
	err = u.s.report(ctx, fmt.Sprintf("entries of job %q", job), func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, walkSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, entriesAfterSQL, number, hostOf(after), hashOf(after), limit)
		if err != nil {
			return err
		}
		return eachRow(rows, func(r crawl.LedgerRow) error { list = append(list, r); return nil })
	})
	return list, err
}

// eachRow hands the rows of a query for host, hash, URL, entryColumns and the reason of a page without record to each.
func eachRow(rows pgx.Rows, each func(crawl.LedgerRow) error) error {
	var host int64
	var hash pgtype.UUID
	var url, unkept *string
	var e entryRow
	_, err := pgx.ForEachRow(rows, append(append([]any{&host, &hash, &url}, e.fields()...), &unkept), func() error {
		row := crawl.LedgerRow{Entry: e.public(keyOf(host, hash)), Unkept: text(unkept)}
		var err error
		if row.URL, err = storedURL(url); err != nil {
			return err
		}
		return each(row)
	})
	return err
}
