package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

const (
	// openPassSQL reads the table, or the index of all open URLs, once, and picks what is in the ranges.
	openPassSQL = `SELECT u.job, u.url, u.kind, u.task FROM urls u WHERE u.state = 1 AND u.url IS NOT NULL AND ` + picked +
		`$1::bigint[]) & 1 = 1`
	// openRangesSQL reads what is open in each range from the index. OFFSET keeps the planner from reading all that is
	// open once and comparing it with each range.
	openRangesSQL = `
	SELECT o.* FROM unnest($1::bigint[], $2::bigint[]) AS r (first, last) CROSS JOIN LATERAL (
		SELECT u.job, u.url, u.kind, u.task FROM urls u
		WHERE u.state = 1 AND u.host BETWEEN r.first AND r.last AND u.url IS NOT NULL OFFSET 0
	) o`

	// picked begins the condition that a host is in one of the ranges whose edges a parameter has: it is odd.
	picked = `width_bucket(u.host, `

	// rangesSettings leave the plan that reads each range's part of the index, and then the rows in their order in the
	// table.
	rangesSettings = `SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;
	SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL max_parallel_workers_per_gather = 0`

	// openSizesSQL estimates the pages of the table and the open URLs, -1 without an index, as they were last counted.
	openSizesSQL = `SELECT
		(SELECT coalesce(sum(c.relpages), 0)::float8 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass('urls')),
		(SELECT coalesce(sum(greatest(c.reltuples, 0)), -1)::float8 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
			WHERE i.inhparent = to_regclass('urls_open'))`
)

// randomCost is what a page costs that is read by itself, in pages that are read one after the other: the server's own
// estimate (random_page_cost).
const randomCost = 4

// openWay is how open URLs are read.
type openWay uint8

const (
	cheapest openWay = iota
	byPass
	byRanges
)

// Open calls each with the task of every open URL in the ranges that owned accepts, in no order, over all jobs: a
// stopped job may be resumed one day. These are the URLs that were queued or in flight at one moment. They are marked
// as repeats, because their queues may still hold them. It holds one task at a time. An error of each stops it.
//
// It reads what is open in the ranges from an index, or, where that is so much that it lies all over the table, all of
// the table in its order. The server sends only what is in the ranges. While it runs, the server keeps all row versions
// since its snapshot, so each should be fast.
func (u *URLs) Open(ctx context.Context, in []weburl.KeyRange, owned func(weburl.URL) bool,
	each func(crawl.Task) error) error {
	return u.open(ctx, cheapest, in, owned, each)
}

func (u *URLs) open(ctx context.Context, way openWay, in []weburl.KeyRange, owned func(weburl.URL) bool,
	each func(crawl.Task) error) error {
	return u.s.inRanges(in, func(at *Store, in []weburl.KeyRange) error {
		return (&URLs{at}).openAt(ctx, way, in, owned, each)
	})
}

func (u *URLs) openAt(ctx context.Context, way openWay, in []weburl.KeyRange, owned func(weburl.URL) bool,
	each func(crawl.Task) error) error {
	return u.s.report(ctx, "open URLs", func(ctx context.Context, tx pgx.Tx) error {
		jobs, err := u.s.jobNames(ctx, tx, allJobsSQL)
		if err != nil {
			return err
		}
		rows, err := queryOpen(ctx, tx, way, in, len(u.s.main.ledger))
		if err != nil {
			return err
		}
		var number int32
		var url, stored pgtype.DriverBytes // of the connection's buffer, until the next row
		var kind int16
		_, err = pgx.ForEachRow(rows, []any{&number, &url, &kind, &stored}, func() error {
			job, known := jobs[number]
			if !known { // written late, under the number of a job that was deleted
				return nil
			}
			at, err := weburl.ParseStored(url)
			if err != nil || !owned(at) {
				return err
			}
			t, err := restoreTask(job, at, crawl.Kind(kind), stored)
			if err != nil {
				return err
			}
			return each(t)
		})
		return err
	})
}

// queryOpen sends one of the statements above to one of several servers.
func queryOpen(ctx context.Context, tx pgx.Tx, way openWay, in []weburl.KeyRange, servers int) (pgx.Rows, error) {
	if way == cheapest {
		var pages, open float64
		if err := tx.QueryRow(ctx, openSizesSQL).Scan(&pages, &open); err != nil {
			return nil, err
		}
		way = cheaper(pages, float64(servers)*open, in)
	}
	if way == byPass {
		return tx.Query(ctx, openPassSQL, edgesOf(in))
	}
	if _, err := tx.Exec(ctx, rangesSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
		return nil, err
	}
	first, last := boundsOf(in)
	return tx.Query(ctx, openRangesSQL, first, last)
}

// cheaper compares two estimates: a page of the table for each open URL of the ranges, and a page of the index for each
// range and partition; and the whole table in its order. open is how many there would be in all ranges together.
func cheaper(pages, open float64, in []weburl.KeyRange) openWay {
	if open < 0 || randomCost*weburl.Share(in)*open+float64(urlsPartitions*len(in)) > pages {
		return byPass
	}
	return byRanges
}

const allJobsSQL = `SELECT number, id FROM jobs`

// jobNames returns jobs by their numbers, for a transaction that reads rows of many: those of whatever its snapshot
// shows. Jobs are on the main server. If this is another, it asks there once the snapshot is taken: a job whose number
// is in a row that was written before it is there.
func (s *Store) jobNames(ctx context.Context, tx pgx.Tx, sql string) (map[int32]crawl.JobID, error) {
	query := tx.Query
	if s.main != s {
		if _, err := tx.Exec(ctx, `SELECT 1`); err != nil {
			return nil, err
		}
		query = s.main.pool.Query
	}
	rows, err := query(ctx, sql)
	if err != nil {
		return nil, err
	}
	names := map[int32]crawl.JobID{}
	var number int32
	var id string
	_, err = pgx.ForEachRow(rows, []any{&number, &id}, func() error { names[number] = crawl.JobID(id); return nil })
	if err != nil {
		return nil, fmt.Errorf("names of jobs: %w", err)
	}
	return names, nil
}
