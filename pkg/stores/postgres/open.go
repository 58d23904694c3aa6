package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// openSQL reads the whole table. An index of open URLs would be written twice for each URL, and would be read only when
// a node joins or leaves. See docs/decisions.
const openSQL = `
	SELECT j.id, u.url, u.kind, u.task FROM urls u JOIN jobs j ON j.number = u.job
	WHERE u.state = 1 AND u.url IS NOT NULL`

// Open calls each with the task of every open URL that owned accepts, in no order, over all jobs: a stopped job may be
// resumed one day. These are the URLs that were queued or in flight at one moment. They are marked as repeats, because
// their queues may still hold them. It holds one task at a time. An error of each stops it.
//
// While it runs, the server keeps all row versions since its snapshot, so each should be fast.
func (u *URLs) Open(ctx context.Context, owned func(weburl.URL) bool, each func(crawl.Task) error) error {
	return u.s.report(ctx, "open URLs", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, openSQL)
		if err != nil {
			return err
		}
		var job string
		var url, stored pgtype.DriverBytes // of the connection's buffer, until the next row
		var kind int16
		_, err = pgx.ForEachRow(rows, []any{&job, &url, &kind, &stored}, func() error {
			at, err := weburl.ParseStored(url)
			if err != nil || !owned(at) {
				return err
			}
			t, err := restoreTask(crawl.JobID(job), at, crawl.Kind(kind), stored)
			if err != nil {
				return err
			}
			return each(t)
		})
		return err
	})
}
