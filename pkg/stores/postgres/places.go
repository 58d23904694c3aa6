package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Places is which pages were taken back and keep their places in the page budget.
type Places struct{ s *Store }

var _ crawl.Places = (*Places)(nil)

// Places returns which pages keep their places in the page budget.
func (s *Store) Places() *Places { return &Places{s} }

const (
	keepPlacesSQL = `INSERT INTO places (job, host, hash) SELECT $1, a.host, a.hash
		FROM unnest($2::bigint[], $3::uuid[]) AS a (host, hash) ON CONFLICT DO NOTHING`
	leavePlacesSQL = `DELETE FROM places p USING unnest($2::bigint[], $3::uuid[]) AS a (host, hash)
		WHERE p.job = $1 AND p.host = a.host AND p.hash = a.hash`
	placesSQL = `SELECT host, hash FROM places WHERE job = $1`
)

// KeepPlaces implements crawl.Places.
func (p *Places) KeepPlaces(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	return p.change(ctx, "keep", keepPlacesSQL, job, keys)
}

// LeavePlaces implements crawl.Places.
func (p *Places) LeavePlaces(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	return p.change(ctx, "leave", leavePlacesSQL, job, keys)
}

func (p *Places) change(ctx context.Context, what, sql string, job crawl.JobID, keys []weburl.Key) error {
	return onServers(p.s, keys, sameKey, func(at *Store, part []weburl.Key, _ []int) error {
		return (&Places{at}).changeAt(ctx, what, sql, job, part)
	})
}

func (p *Places) changeAt(ctx context.Context, what, sql string, job crawl.JobID, keys []weburl.Key) error {
	if len(keys) == 0 {
		return nil
	}
	b := makeBatch(len(keys), func(i int) weburl.Key { return keys[i] })
	what = fmt.Sprintf("%s the places of %d pages, the first %s", what, len(keys), keys[0])
	return p.s.do(ctx, what, func(ctx context.Context) error {
		number, err := p.s.jobs.number(ctx, job)
		if err == nil {
			_, err = p.s.pool.Exec(ctx, sql, number, b.hosts, b.hashes)
		}
		return err
	})
}

// Places implements crawl.Places.
func (p *Places) Places(ctx context.Context, job crawl.JobID) (keys []weburl.Key, err error) {
	err = p.s.inTurn(func(at *Store) error {
		more, err := (&Places{at}).places(ctx, job)
		keys = append(keys, more...)
		return err
	})
	return keys, err
}

func (p *Places) places(ctx context.Context, job crawl.JobID) (keys []weburl.Key, err error) {
	err = p.s.do(ctx, fmt.Sprintf("pages of job %q that keep their places", job), func(ctx context.Context) error {
		number, known, err := p.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		rows, err := p.s.pool.Query(ctx, placesSQL, number)
		if err != nil {
			return err
		}
		keys, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (weburl.Key, error) {
			var host int64
			var hash pgtype.UUID
			err := row.Scan(&host, &hash)
			return keyOf(host, hash), err
		})
		return err
	})
	return keys, err
}
