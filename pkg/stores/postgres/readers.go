package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// report runs long queries over one snapshot. The planner is free to choose, because such a query reads most of a
// table. Only the context limits its time.
func (s *Store) report(ctx context.Context, what string, query func(ctx context.Context, tx pgx.Tx) error) error {
	var tx pgx.Tx
	err := s.do(ctx, what, func(ctx context.Context) (err error) {
		tx, err = s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	if _, err = tx.Exec(ctx, reportSettings, pgx.QueryExecModeSimpleProtocol); err == nil {
		err = query(ctx, tx)
	}
	if err != nil {
		return fault(what, err)
	}
	return nil
}

const reportSettings = `SET LOCAL plan_cache_mode = auto; SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on;
	SET LOCAL enable_mergejoin = on; SET LOCAL max_parallel_workers_per_gather = 2`

const entriesSQL = `SELECT u.host, u.hash, url, ` + entryColumns + `, k.unkept FROM urls u
	LEFT JOIN (SELECT host, hash, reason FROM unkept WHERE job = $1) AS k (host, hash, unkept) ON k.host = u.host AND k.hash = u.hash
	WHERE u.job = $1 ORDER BY u.host, u.hash`

// Entries calls each with every entry of a job, in the order of the keys, from one snapshot of each server. It holds
// one row at a time. An error of each stops it.
func (u *URLs) Entries(ctx context.Context, job crawl.JobID, each func(crawl.LedgerRow) error) error {
	return u.s.inTurn(func(at *Store) error { return (&URLs{at}).entries(ctx, job, each) })
}

func (u *URLs) entries(ctx context.Context, job crawl.JobID, each func(crawl.LedgerRow) error) error {
	number, known, err := u.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	return u.s.report(ctx, fmt.Sprintf("entries of job %q", job), func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, entriesSQL, number)
		if err != nil {
			return err
		}
		return eachRow(rows, each)
	})
}

var recountSQL = `
	WITH job AS (SELECT state, verdict, kind, status, reason, left_out FROM urls WHERE job = $1)
	SELECT counter, coalesce(arg, ''), sum(by)::bigint FROM (
		SELECT 'claimed' AS counter, '' AS arg, count(*) AS by FROM job WHERE state IN (1, 2) HAVING count(*) > 0
		UNION ALL SELECT 'excluded', left_out, count(*) FROM job WHERE state = 3 GROUP BY left_out
		UNION ALL ` + outcomeCounts(`(SELECT verdict, kind, status, reason, count(*) AS n FROM job WHERE state = 2
			GROUP BY verdict, kind, status, reason) d`, "n", "true") + `
	) c GROUP BY counter, coalesce(arg, '')`

// recountTalliesSQL makes the tallies of a job, of which there are none.
var recountTalliesSQL = `INSERT INTO tallies (job, shard, counter, arg, n) SELECT $1, 0, c.* FROM (` + recountSQL +
	`) AS c (counter, arg, n)`

// Recount counts a job's rows for an audit; it reads the whole job. stood is the Tally of the same snapshot: of each
// server, one.
func (u *URLs) Recount(ctx context.Context, job crawl.JobID) (counted, stood crawl.Tally, err error) {
	counts, stands := make([]crawl.Tally, len(u.s.ledger)), make([]crawl.Tally, len(u.s.ledger))
	err = u.s.together(func(i int, at *Store) (err error) {
		counts[i], stands[i], err = (&URLs{at}).recount(ctx, job)
		return err
	})
	return sumTallies(counts), sumTallies(stands), err
}

func (u *URLs) recount(ctx context.Context, job crawl.JobID) (counted, stood crawl.Tally, err error) {
	if _, _, err := u.s.jobs.find(ctx, job); err != nil { // so that the report needs one connection
		return counted, stood, err
	}
	err = u.s.report(ctx, fmt.Sprintf("count the URLs of job %q", job), func(ctx context.Context, tx pgx.Tx) error {
		on := func(sql string) func(context.Context, int32) (pgx.Rows, error) {
			return func(ctx context.Context, number int32) (pgx.Rows, error) { return tx.Query(ctx, sql, number) }
		}
		var err error
		if counted, err = u.tally(ctx, job, on(recountSQL)); err == nil {
			stood, err = u.tally(ctx, job, on(tallySQL))
		}
		return err
	})
	return counted, stood, err
}

// CountAgain makes a job's counters those of its rows: for repairs, while nothing moves.
func (u *URLs) CountAgain(ctx context.Context, job crawl.JobID) error {
	return u.s.inTurn(func(at *Store) error { return (&URLs{at}).countAgain(ctx, job) })
}

func (u *URLs) countAgain(ctx context.Context, job crawl.JobID) error {
	return u.s.do(ctx, fmt.Sprintf("count the URLs of job %q again", job), func(ctx context.Context) error {
		number, known, err := u.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		return pgx.BeginFunc(ctx, u.s.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SET LOCAL enable_seqscan = on; LOCK TABLE tallies IN SHARE ROW EXCLUSIVE MODE`,
				pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `DELETE FROM tallies WHERE job = $1`, number); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, recountTalliesSQL, number)
			return err
		})
	})
}

// Forget forgets what is kept of pages, as if nobody had seen them: for repairs.
func (c *ContentSet) Forget(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	ids := make([][]byte, len(keys))
	for i := range keys {
		ids[i] = keys[i][:]
	}
	return c.s.do(ctx, fmt.Sprintf("forget %d fingerprints of job %q", len(keys), job), func(ctx context.Context) error {
		number, known, err := c.s.jobs.find(ctx, job)
		if err == nil && known {
			_, err = c.s.pool.Exec(ctx, `DELETE FROM fingerprints WHERE job = $1 AND page_id = ANY ($2::bytea[])`, number, ids)
		}
		return err
	})
}

const fingerprintSQL = `
	SELECT f.url, f.page_type, coalesce(o.url, ''), f.distance, f.page_fp, f.simhash, f.domain, f.claimed
	FROM fingerprints f LEFT JOIN fingerprints o ON o.job = f.job AND o.page_id = f.content_id AND f.page_type <> 0
	WHERE f.job = $1 AND f.page_id = $2`

// Fingerprint returns what is kept of a page; false if its content was never claimed.
func (c *ContentSet) Fingerprint(ctx context.Context, job crawl.JobID,
	k weburl.Key) (f crawl.StoredFingerprint, found bool, err error) {
	err = c.s.do(ctx, fmt.Sprintf("fingerprint of URL %s", k), func(ctx context.Context) error {
		number, known, err := c.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		var url, of string
		var pageType, distance int16
		var digest []byte
		var simhash int64
		err = c.s.pool.QueryRow(ctx, fingerprintSQL, number, k[:]).
			Scan(&url, &pageType, &of, &distance, &digest, &simhash, &f.Domain, &f.At)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		f.Sameness, f.Distance, f.Simhash = crawl.Sameness(pageType), int(distance), uint64(simhash)
		copy(f.Digest[:], digest)
		return errors.Join(f.URL.UnmarshalText([]byte(url)), f.Of.UnmarshalText([]byte(of)))
	})
	return f, found, err
}

// Candidate is an original whose simhash is near one that was asked for.
type Candidate struct {
	URL      weburl.URL
	Distance int
}

// Near returns the originals of a job whose simhashes differ from simhash in at most near bits (0 to 7), the nearest
// first: at most 64.
func (c *ContentSet) Near(ctx context.Context, job crawl.JobID, simhash uint64,
	near int) (found []Candidate, err error) {
	err = c.s.do(ctx, fmt.Sprintf("originals within %d bits of simhash %016x", near, simhash),
		func(ctx context.Context) error {
			found = nil
			number, known, err := c.s.jobs.find(ctx, job)
			if err != nil || !known {
				return err
			}
			rows, err := c.s.pool.Query(ctx, nearSQL, nearArgs(number, nil, simhash, near)...)
			if err != nil {
				return err
			}
			var last weburl.URL
			var url string
			var id, sketch []byte
			var distance int16
			_, err = pgx.ForEachRow(rows, []any{&url, &id, &sketch, &distance}, func() error {
				u, err := weburl.Parse(url)
				if err == nil && u != last && len(found) < maxConfirmed {
					last, found = u, append(found, Candidate{URL: u, Distance: int(distance)})
				}
				return err
			})
			return err
		})
	return found, err
}

// ContentCounts says how many pages of a job are originals and copies.
type ContentCounts struct{ Originals, ExactCopies, NearCopies int64 }

// Counts counts a job's fingerprints. It reads an index of all of them.
func (c *ContentSet) Counts(ctx context.Context, job crawl.JobID) (n ContentCounts, err error) {
	number, known, err := c.s.jobs.find(ctx, job)
	if err != nil || !known {
		return n, err
	}
	err = c.s.report(ctx, fmt.Sprintf("count the fingerprints of job %q", job),
		func(ctx context.Context, tx pgx.Tx) error {
			const sql = `SELECT count(*) FILTER (WHERE page_type = 0), count(*) FILTER (WHERE page_type = 1), count(*) FILTER (WHERE page_type = 2)
			FROM fingerprints WHERE job = $1`
			return tx.QueryRow(ctx, sql, number).Scan(&n.Originals, &n.ExactCopies, &n.NearCopies)
		})
	return n, err
}
