package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// openSQL reads the whole table: an index of open URLs would have to be written twice a URL, and is read when a node comes or goes. See
// docs/decisions.
const openSQL = `
	SELECT j.id, u.url, u.kind, u.task FROM urls u JOIN jobs j ON j.number = u.job
	WHERE u.state = 1 AND u.url IS NOT NULL`

// Open hands the task of every open URL that owned accepts to each, over all jobs (also a stopped one may go on some day), in no order: what was queued or in
// flight at one moment. They are marked as repeats, for their queues may still hold them. It holds one at a time. An error of each ends it.
//
// While it runs, the server keeps what has changed since its moment: each should not wait for longer than it must.
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
