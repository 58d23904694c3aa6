package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Unkept is why pages that were fetched have no record.
type Unkept struct{ s *Store }

var _ crawl.Unkept = (*Unkept)(nil)

// Unkept returns why pages that were fetched have no record.
func (s *Store) Unkept() *Unkept { return &Unkept{s} }

const (
	noteSQL = `INSERT INTO unkept (job, host, hash, reason) VALUES ($1, $2, $3, $4)
		ON CONFLICT (job, host, hash) DO UPDATE SET reason = excluded.reason, noted = excluded.noted`
	reasonsSQL = `
		SELECT a.ord, u.reason FROM unnest($2::bigint[], $3::uuid[]) WITH ORDINALITY AS a (host, hash, ord)
		JOIN unkept u ON u.job = $1 AND u.host = a.host AND u.hash = a.hash`
)

// Note implements crawl.Unkept.
func (u *Unkept) Note(ctx context.Context, job crawl.JobID, url weburl.URL, reason string) error {
	if reason = clean(reason, maxReason); reason == "" {
		return crawl.Permanent(errors.New("note why " + url.String() + " has no record: no reason was given"))
	}
	return u.s.at(url.Key()).note(ctx, fmt.Sprintf("note why %s has no record", url), noteSQL, job, url, reason)
}

// Reasons implements crawl.Unkept.
func (u *Unkept) Reasons(ctx context.Context, job crawl.JobID, keys ...weburl.Key) ([]string, error) {
	return onServersAsk(u.s, keys, sameKey, func(at *Store, part []weburl.Key) ([]string, error) {
		return (&Unkept{at}).reasons(ctx, job, part)
	})
}

func (u *Unkept) reasons(ctx context.Context, job crawl.JobID, keys []weburl.Key) ([]string, error) {
	out := make([]string, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	hosts := make([]int64, len(keys))
	for i, k := range keys {
		hosts[i] = hostOf(k)
	}
	err := u.s.do(ctx, fmt.Sprintf("why %d pages have no record, the first %s", len(keys), keys[0]),
		func(ctx context.Context) error {
			number, known, err := u.s.jobs.find(ctx, job)
			if err != nil || !known {
				return err
			}
			rows, err := u.s.pool.Query(ctx, reasonsSQL, number, hosts, makeHashes(keys))
			if err != nil {
				return err
			}
			var ord int64
			var reason string
			_, err = pgx.ForEachRow(rows, []any{&ord, &reason}, func() error {
				out[ord-1] = reason
				return nil
			})
			return err
		})
	return out, err
}
