package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Jars keeps the cookies of jobs by site.
type Jars struct{ s *Store }

var _ crawl.Jars = (*Jars)(nil)

// Jars returns the jars of cookies.
func (s *Store) Jars() *Jars { return &Jars{s} }

// jarLock and the job's number are the advisory lock for changes of a jar. So versions become visible in their order.
const jarLock = 0x6a6172

const (
	jarSQL       = `SELECT version, jar FROM jars WHERE job = $1 AND site = $2`
	jarsSQL      = `SELECT version, jar FROM jars WHERE job = $1 AND version > $2 ORDER BY version LIMIT $3`
	addJarSQL    = `INSERT INTO jars (job, site, version, jar) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
	changeJarSQL = `UPDATE jars SET version = $3, jar = $4 WHERE job = $1 AND site = $2 AND version = $5`
	lastJarSQL   = `SELECT coalesce(max(version), 0) FROM jars WHERE job = $1`
	countJarsSQL = `SELECT count(*) FROM jars WHERE job = $1`
)

func decodeJar(version int64, data []byte) (jar crawl.Jar, err error) {
	err = crawl.DecodeValue(data, &jar)
	jar.Version = uint64(version)
	return jar, err
}

// Jar implements crawl.Jars.
func (j *Jars) Jar(ctx context.Context, job crawl.JobID, site string) (jar crawl.Jar, err error) {
	jar.Site = site
	err = j.s.do(ctx, "cookies of "+site, func(ctx context.Context) error {
		number, known, err := j.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		var version int64
		var data []byte
		err = j.s.pool.QueryRow(ctx, jarSQL, number, indexed(site)).Scan(&version, &data)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			jar, err = decodeJar(version, data)
		}
		return err
	})
	return jar, err
}

// PutJar implements crawl.Jars.
func (j *Jars) PutJar(ctx context.Context, job crawl.JobID, jar *crawl.Jar) (version uint64, err error) {
	data, err := crawl.EncodeValue(jar)
	if err != nil {
		return 0, err
	}
	var refused error
	err = j.s.do(ctx, "store the cookies of "+jar.Site, func(ctx context.Context) error {
		number, err := j.s.jobs.number(ctx, job)
		if err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, j.s.pool, func(tx pgx.Tx) (err error) {
			version, refused, err = putJar(ctx, tx, number, jar, data)
			return err
		})
	})
	if err == nil {
		err = refused
	}
	return version, err
}

// putJar changes one row. refused is the answer to whoever comes too late.
func putJar(ctx context.Context, tx pgx.Tx, number int32, jar *crawl.Jar,
	data []byte) (version uint64, refused, err error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1, $2)`, int32(jarLock), number); err != nil {
		return 0, nil, err
	}
	var last, count int64
	if err := tx.QueryRow(ctx, lastJarSQL, number).Scan(&last); err != nil {
		return 0, nil, err
	}
	if jar.Version == 0 && last >= crawl.MaxJars { // each jar has a version of its own: else there are fewer
		if err := tx.QueryRow(ctx, countJarsSQL, number).Scan(&count); err != nil || count >= crawl.MaxJars {
			return 0, crawl.ErrJarsFull, err
		}
	}
	sql, args := addJarSQL, []any{number, indexed(jar.Site), last + 1, data}
	if jar.Version > 0 {
		sql, args = changeJarSQL, append(args, int64(jar.Version))
	}
	tag, err := tx.Exec(ctx, sql, args...)
	if err != nil {
		return 0, nil, err
	}
	if tag.RowsAffected() == 0 {
		return 0, crawl.ErrJarChanged, nil
	}
	return uint64(last + 1), nil, nil
}

// JarsSince implements crawl.Jars.
func (j *Jars) JarsSince(ctx context.Context, job crawl.JobID, version uint64, limit int) (out []crawl.Jar, err error) {
	err = j.s.do(ctx, fmt.Sprintf("cookies of job %q", job), func(ctx context.Context) error {
		out = nil
		number, known, err := j.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		rows, err := j.s.pool.Query(ctx, jarsSQL, number, int64(version), limit)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (jar crawl.Jar, err error) {
			var version int64
			var data []byte
			if err := row.Scan(&version, &data); err != nil {
				return jar, err
			}
			return decodeJar(version, data)
		})
		return err
	})
	return out, err
}
