package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Erased is how many rows a deletion removed from a table.
type Erased struct {
	Table string
	Rows  int64
}

// ofJobs are the tables whose rows belong to jobs, with a name for people. Those of resources share bodies: see
// Resources.erase.
var ofJobs = []Erased{{Table: "urls"}, {Table: "fingerprints"}, {Table: "unkept"}, {Table: "followed"},
	{Table: "followed_since"}, {Table: "following"}, {Table: "redirects"}, {Table: "jars"}, {Table: "places"},
	{Table: "spent"}, {Table: "budgets"}, {Table: "tallies"}, {Table: "renders"}, {Table: "trials"},
	{Table: "page_text"}, {Table: "revisits"}, {Table: "habits"}, {Table: "job_revisions"}, {Table: "queue_looks"}}

// BeginDelete marks a job as deleted. Programs drop the job's work when they next look, within Config.JobExpiry. age is
// the time since the first call. An unknown or deleted job is a permanent error.
func (j *Jobs) BeginDelete(ctx context.Context, id crawl.JobID) (age time.Duration, err error) {
	err = j.s.do(ctx, fmt.Sprintf("delete job %q", id), func(ctx context.Context) error {
		const sql = `UPDATE jobs SET deleted = coalesce(deleted, now()) WHERE id = $1 AND NOT gone RETURNING now() - deleted`
		err := j.s.pool.QueryRow(ctx, sql, indexed(string(id))).Scan(&age)
		if errors.Is(err, pgx.ErrNoRows) {
			return unknownJob(id)
		}
		return err
	})
	j.forgetLife(id)
	return age, err
}

// Erase removes all data of a job whose deletion has begun, ends the deletion, and returns what it removed. If it is
// interrupted, call it again: it goes on.
func (j *Jobs) Erase(ctx context.Context, id crawl.JobID) (erased []Erased, err error) {
	var number int32
	err = j.s.do(ctx, fmt.Sprintf("delete job %q", id), func(ctx context.Context) error {
		err := j.s.pool.QueryRow(ctx, `SELECT number FROM jobs WHERE id = $1 AND deleted IS NOT NULL AND NOT gone`,
			indexed(string(id))).Scan(&number)
		if errors.Is(err, pgx.ErrNoRows) {
			return crawl.Permanent(fmt.Errorf("job %q: its deletion has not begun", id))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if erased, err = j.eraseNumber(ctx, number); err != nil {
		return erased, err
	}
	if err := j.eraseRetired(ctx); err != nil {
		return erased, err
	}
	return erased, j.s.do(ctx, fmt.Sprintf("end the deletion of job %q", id), func(ctx context.Context) error {
		_,
			err := j.s.pool.Exec(ctx,
			`UPDATE jobs SET gone = true, spec = NULL, sweep = NULL, state = 'ended' WHERE number = $1 AND deleted IS NOT NULL`,
			number)
		return err
	})
}

// eraseRetired removes what was written late under the numbers of former lives.
func (j *Jobs) eraseRetired(ctx context.Context) error {
	var numbers []int32
	err := j.s.do(ctx, "numbers of jobs that were deleted", func(ctx context.Context) error {
		rows, err := j.s.pool.Query(ctx, `SELECT number FROM retired_numbers`)
		if err != nil {
			return err
		}
		numbers, err = pgx.CollectRows(rows, pgx.RowTo[int32])
		return err
	})
	for _, n := range numbers {
		if err == nil {
			_, err = j.eraseNumber(ctx, n)
		}
	}
	return err
}

// eraseNumber removes all rows under a number.
func (j *Jobs) eraseNumber(ctx context.Context, number int32) (erased []Erased, err error) {
	lines, err := j.dropAttempts(ctx, number)
	if lines > 0 {
		erased = append(erased, Erased{"attempts", lines})
	}
	if err == nil {
		if lines, err = j.s.resources.erase(ctx, number); lines > 0 {
			erased = append(erased, Erased{"resources", lines})
		}
	}
	for _, t := range ofJobs {
		if err == nil {
			err = j.s.everywhere(func(at *Store) error {
				n, err := at.eraseRows(ctx, t.Table, number)
				t.Rows += n
				return err
			})
		}
		if t.Rows > 0 {
			erased = append(erased, t)
		}
	}
	return erased, err
}

// eraseBatch is how many rows a statement removes: few enough that it ends in time.
const eraseBatch = 50_000

// eraseRows removes the rows of a job from a table of this server.
func (s *Store) eraseRows(ctx context.Context, table string, number int32) (rows int64, err error) {
	for n := int64(1); err == nil && n > 0; rows += n {
		n, err = s.eraseSome(ctx, table, number)
	}
	return rows, err
}

func (s *Store) eraseSome(ctx context.Context, table string, number int32) (n int64, err error) {
	err = s.do(ctx, fmt.Sprintf("delete rows of %s", table), func(ctx context.Context) error {
		sql := fmt.Sprintf(`DELETE FROM %s WHERE job = $1 AND (tableoid, ctid) IN (SELECT tableoid, ctid FROM %s WHERE job = $1 LIMIT %d)`, table, table, eraseBatch)
		tag, err := s.pool.Exec(ctx, sql, number)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}

// dropPatience is how long Erase waits for the job's partition of the attempts. Dropping it needs an exclusive lock for
// a moment, and other statements queue up behind the waiting lock.
const dropPatience = "2s"

// dropAttempts drops a job's partition of the attempts, and returns how many lines it had.
func (j *Jobs) dropAttempts(ctx context.Context, number int32) (lines int64, err error) {
	err = j.s.do(ctx, "delete log lines", func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, j.s.pool, func(tx pgx.Tx) error {
			name := fmt.Sprintf("attempts_%d", number)
			var there bool
			if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, name).Scan(&there); err != nil || !there {
				return err
			}
			if err := tx.QueryRow(ctx, `SELECT count(*) FROM `+name).Scan(&lines); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '`+dropPatience+`'`); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(jobLock)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `DROP TABLE `+name)
			return err
		})
	})
	return lines, err
}
