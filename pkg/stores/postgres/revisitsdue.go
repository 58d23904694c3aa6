package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// revisitDueSQL reads on from a row in the order of (bucket, key).
const revisitDueSQL = `
	SELECT bucket, host, hash, state, url FROM revisits
	WHERE job = $1 AND bucket IS NOT NULL AND bucket <= $2 AND (bucket, host, hash) > ($3, $4, $5)
	ORDER BY bucket, host, hash LIMIT $6`

// Pages that Due reads with one statement at least, and with how many statements at most. On a ring most of what is due
// is other nodes', which take it soon.
const (
	dueRows  = 256
	duePages = 32
)

// dueCursor is the row that was read last.
type dueCursor struct {
	bucket, host int64
	hash         pgtype.UUID
}

// Due implements crawl.Revisits.
func (r *Revisits) Due(ctx context.Context, job crawl.JobID, by time.Time, n int,
	mine func(weburl.URL) bool) (out []crawl.Revisit, err error) {
	if n < 1 {
		return nil, nil
	}
	err = r.s.inTurn(func(at *Store) error {
		more, err := (&Revisits{at}).due(ctx, job, by, n, mine)
		out = append(out, more...)
		return err
	})
	if len(r.s.ledger) > 1 {
		slices.SortStableFunc(out, func(a, b crawl.Revisit) int {
			return cmp.Compare(revisit.Bucket(a.Due), revisit.Bucket(b.Due))
		})
	}
	return out[:min(n, len(out))], err
}

func (r *Revisits) due(ctx context.Context, job crawl.JobID, by time.Time, n int,
	mine func(weburl.URL) bool) (out []crawl.Revisit, err error) {
	rows := n
	if mine != nil {
		rows = max(2*n, dueRows)
	}
	err = r.s.do(ctx, fmt.Sprintf("look for pages of job %q that are due by %s", job, by.Format(time.RFC3339)),
		func(ctx context.Context) error {
			out = nil
			number, known, err := r.s.jobs.find(ctx, job)
			if err != nil || !known {
				return err
			}
			at := dueCursor{bucket: -1, hash: pgtype.UUID{Valid: true}}
			for range duePages {
				read, err := r.readDue(ctx, number, by, rows, &at, func(p crawl.Revisit) {
					if len(out) < n && (mine == nil || mine(p.URL)) {
						out = append(out, p)
					}
				})
				if err != nil || read < rows || len(out) == n {
					return err
				}
			}
			return nil
		})
	return out, err
}

const (
	revisitTakenSQL = `SELECT job, url, state FROM revisits r
		WHERE bucket IS NULL AND job = ANY ($1::integer[]) AND width_bucket(host, $2::bigint[]) & 1 = 1`
	unendedJobsSQL = allJobsSQL + ` WHERE state <> 'ended' AND deleted IS NULL`
)

// Taken hands each page in the ranges that is neither due nor gone to each, over all jobs that have not ended: its
// visit is queued or made. The server reads those of all ranges, and those that are gone. They are those of one moment
// of each server. An error of each stops it.
func (r *Revisits) Taken(ctx context.Context, in []weburl.KeyRange, each func(crawl.JobID, crawl.Revisit) error) error {
	return r.s.inRanges(in, func(at *Store, in []weburl.KeyRange) error { return (&Revisits{at}).taken(ctx, in, each) })
}

func (r *Revisits) taken(ctx context.Context, in []weburl.KeyRange, each func(crawl.JobID, crawl.Revisit) error) error {
	return r.s.report(ctx, "pages whose visits are under way", func(ctx context.Context, tx pgx.Tx) error {
		jobs, err := r.s.jobNames(ctx, tx, unendedJobsSQL)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, revisitTakenSQL, slices.Sorted(maps.Keys(jobs)), edgesOf(in))
		if err != nil {
			return err
		}
		var job int32
		var url, state pgtype.DriverBytes
		_, err = pgx.ForEachRow(rows, []any{&job, &url, &state}, func() error {
			s, err := revisit.DecodeState(state)
			if err != nil || s.Gone {
				return err
			}
			at, err := weburl.ParseStored(url)
			if err != nil {
				return err
			}
			return each(jobs[job], crawl.Revisit{URL: at, State: s})
		})
		return err
	})
}

// readDue hands the next rows to each, moves the cursor to the last of them, and returns how many there were.
func (r *Revisits) readDue(ctx context.Context, number int32, by time.Time, limit int, at *dueCursor,
	each func(crawl.Revisit)) (n int, err error) {
	rows, err := r.s.pool.Query(ctx, revisitDueSQL, number, int64(revisit.Bucket(by)), at.bucket, at.host, at.hash, limit)
	if err != nil {
		return 0, err
	}
	var state, url pgtype.DriverBytes // of the connection's buffer, until the next row
	_, err = pgx.ForEachRow(rows, []any{&at.bucket, &at.host, &at.hash, &state, &url}, func() (err error) {
		n++
		var p crawl.Revisit
		if p.State, err = revisit.DecodeState(state); err == nil {
			p.URL, err = weburl.ParseStored(url)
		}
		if err != nil {
			return fmt.Errorf("URL %s: %w", keyOf(at.host, at.hash), err)
		}
		each(p)
		return nil
	})
	return n, err
}
