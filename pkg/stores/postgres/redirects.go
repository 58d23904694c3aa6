package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Redirects is where URLs redirect to.
type Redirects struct{ s *Store }

var _ crawl.Redirects = (*Redirects)(nil)

// Redirects returns where URLs redirect to.
func (s *Store) Redirects() *Redirects { return &Redirects{s} }

const (
	redirectSQL = `INSERT INTO redirects (job, host, hash, target) VALUES ($1, $2, $3, $4)
		ON CONFLICT (job, host, hash) DO UPDATE SET target = excluded.target`
	targetSQL = `SELECT target FROM redirects WHERE job = $1 AND host = $2 AND hash = $3`
)

// Redirect implements crawl.Redirects.
func (r *Redirects) Redirect(ctx context.Context, job crawl.JobID, from, to weburl.URL) error {
	return r.s.at(from.Key()).note(ctx, fmt.Sprintf("note where %s redirects to", from), redirectSQL, job, from,
		to.String())
}

// note writes a text about a URL into a table of the key's columns and the text's.
func (s *Store) note(ctx context.Context, what, sql string, job crawl.JobID, about weburl.URL, text string) error {
	return s.do(ctx, what, func(ctx context.Context) error {
		number, err := s.jobs.number(ctx, job)
		if err == nil {
			k := about.Key()
			_, err = s.pool.Exec(ctx, sql, number, hostOf(k), hashOf(k), text)
		}
		return err
	})
}

// Target implements crawl.Redirects.
func (r *Redirects) Target(ctx context.Context, job crawl.JobID,
	from weburl.URL) (to weburl.URL, found bool, err error) {
	err = r.s.do(ctx, fmt.Sprintf("where %s redirects to", from), func(ctx context.Context) error {
		number, known, err := r.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		k := from.Key()
		var target []byte
		err = r.s.at(k).pool.QueryRow(ctx, targetSQL, number, hostOf(k), hashOf(k)).Scan(&target)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			found = true
			to, err = weburl.ParseStored(target)
		}
		return err
	})
	return to, found, err
}
