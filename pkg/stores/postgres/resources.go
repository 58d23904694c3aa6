package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// DefaultResources is how many octets of resources a cluster keeps.
const DefaultResources = 2 << 30

// useAgain is how long the use of a resource is not noted again.
const useAgain = time.Minute

// Resources keeps the resources that renders need, for all nodes. Bodies that are alike are kept once, whatever the job
// and the URL. What takes more room than the bound goes, the oldest use first; a resource of more than an eighth of it
// is not kept. Whoever puts also removes: once in a while, so that there may be a little too much.
//
// What is found damaged is dropped: it will be fetched again.
type Resources struct {
	s     *Store
	bound int64
	added atomic.Int64 // octets, since it was last looked whether there are too many
}

var _ crawl.Resources = (*Resources)(nil)

// Resources returns the resources that renders need.
func (s *Store) Resources() *Resources { return s.resources }

func newResources(s *Store) *Resources {
	r := &Resources{s: s, bound: s.cfg.Resources}
	if r.bound == 0 {
		r.bound = DefaultResources
	}
	return r
}

// rowOctets is what a row takes besides its resource, about, with its entries in indexes.
const rowOctets = 250

// resourceRow is a row of the table resources.
type resourceRow struct {
	job    int32
	key    weburl.Key
	octets int64
	digest []byte // nil: no body
	data   []byte // nil: no resource
}

func (r *resourceRow) weigh() { r.octets = rowOctets + int64(len(r.data)) }

const (
	resourceSQL = `SELECT r.resource, r.digest, b.body, $4 - r.used >= $5 FROM resources r LEFT JOIN resource_bodies b ON b.digest = r.digest
		WHERE r.job = $1 AND r.host = $2 AND r.hash = $3 AND r.resource IS NOT NULL AND r.expires > $4`
	useSQL = `UPDATE resources SET used = $4 FROM set_config('synchronous_commit', 'off', true)
		WHERE job = $1 AND host = $2 AND hash = $3 AND $4 - used >= $5`
)

// Resource implements crawl.Resources.
func (r *Resources) Resource(ctx context.Context, job crawl.JobID, u weburl.URL,
	now time.Time) (res crawl.Resource, found bool, err error) {
	err = r.s.do(ctx, "resource "+u.String(), func(ctx context.Context) (err error) {
		res, found, err = r.resource(ctx, job, u.Key(), now)
		return err
	})
	if !found || err != nil {
		return crawl.Resource{}, false, err
	}
	res.URL = u
	return res, true, nil
}

func (r *Resources) resource(ctx context.Context, job crawl.JobID, k weburl.Key,
	now time.Time) (res crawl.Resource, found bool, err error) {
	row := resourceRow{key: k}
	var known, again bool
	if row.job, known, err = r.s.jobs.find(ctx, job); err != nil || !known {
		return res, false, err
	}
	var packed []byte
	err = r.s.pool.QueryRow(ctx, resourceSQL, row.job, hostOf(k), hashOf(k), now, useAgain).Scan(&row.data, &row.digest,
		&packed, &again)
	if errors.Is(err, pgx.ErrNoRows) {
		return res, false, nil
	}
	if err != nil {
		return res, false, err
	}
	if err := crawl.DecodeValue(row.data, &res); err != nil {
		return res, false, r.drop(ctx, row, err)
	}
	if row.digest != nil {
		if res.Body, err = codec.UnpackBody(packed, res.Digest); err != nil {
			return res, false, r.drop(ctx, row, err)
		}
	}
	if again {
		_, err = r.s.pool.Exec(ctx, useSQL, row.job, hostOf(k), hashOf(k), now, useAgain)
	}
	return res, err == nil, err
}

// drop removes what cannot be read.
func (r *Resources) drop(ctx context.Context, row resourceRow, why error) error {
	r.s.log.Warn("a stored resource is dropped: it is fetched again", "error", why)
	return pgx.BeginFunc(ctx, r.s.pool, func(tx pgx.Tx) error {
		now, found, err := lockResource(ctx, tx, row.job, row.key)
		if err != nil || !found || !bytes.Equal(now.digest, row.digest) {
			return err
		}
		c := resourceChange{tx: tx}
		if err := c.destroy(ctx, now.digest); err != nil {
			return err
		}
		if err := c.remove(ctx, []resourceRow{now}); err != nil {
			return err
		}
		return c.end(ctx, false)
	})
}

// PutResource implements crawl.Resources. The digest is made here.
func (r *Resources) PutResource(ctx context.Context, job crawl.JobID, res crawl.Resource) error {
	res.Digest = sha256.Sum256(res.Body)
	data, err := crawl.EncodeValue(&res)
	if err != nil {
		return crawl.Permanent(fmt.Errorf("resource %s: %w", res.URL, err))
	}
	row := resourceRow{key: res.URL.Key(), data: data}
	var packed []byte
	if len(res.Body) > 0 {
		row.digest = res.Digest[:]
		if packed, err = codec.PackBody(res.Body); err != nil {
			return err
		}
	}
	if row.weigh(); row.octets+int64(len(packed)) > r.bound/8 {
		row.digest, row.data, packed = nil, nil, nil // what is left of it ends the wants
		row.weigh()
	}
	var added int64
	err = r.s.do(ctx, "store resource "+res.URL.String(), func(ctx context.Context) (err error) {
		if row.job, err = r.s.jobs.number(ctx, job); err == nil {
			added, err = r.put(ctx, row, packed, res.At, res.Expires)
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.shrink(ctx, added)
}

const (
	addResourceSQL = `INSERT INTO resources (job, host, hash, used, octets) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`
	putResourceSQL = `UPDATE resources SET used = greatest(used, $4), wanted = NULL, claimant = NULL, expires = $5, digest = $6, octets = $7, resource = $8
		WHERE job = $1 AND host = $2 AND hash = $3`
)

// put stores a resource and returns how many octets there are more.
func (r *Resources) put(ctx context.Context, row resourceRow, packed []byte, at,
	expires time.Time) (added int64, err error) {
	err = pgx.BeginFunc(ctx, r.s.pool, func(tx pgx.Tx) error {
		c := resourceChange{tx: tx}
		before, found, err := lockResource(ctx, tx, row.job, row.key)
		for ; !found && err == nil; before, found, err = lockResource(ctx, tx, row.job, row.key) {
			tag, err := tx.Exec(ctx, addResourceSQL, row.job, hostOf(row.key), hashOf(row.key), at, row.octets)
			if err != nil {
				return err
			}
			c.delta += tag.RowsAffected() * row.octets
		}
		if err != nil {
			return err
		}
		c.delta += row.octets - before.octets
		if err := c.exchange(ctx, before.digest, row.digest, packed); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, putResourceSQL, row.job, hostOf(row.key), hashOf(row.key), at, expires, row.digest, row.octets,
			row.data)
		if err != nil {
			return err
		}
		added = c.delta
		return c.end(ctx, false)
	})
	return added, err
}

const (
	wantSQL = `INSERT INTO resources AS r (job, host, hash, used, wanted, claimant, octets)
		SELECT $1, a.host, a.hash, $4, $4, $5, $6 FROM unnest($2::bigint[], $3::uuid[]) AS a (host, hash)
		ON CONFLICT (job, host, hash) DO UPDATE SET used = greatest(r.used, excluded.used), wanted = excluded.wanted, claimant = excluded.claimant
		WHERE NOT coalesce(r.resource IS NOT NULL AND r.expires > $4, false)
			AND NOT coalesce($4 - r.wanted < $7 AND r.wanted - $4 < $7, false)
		RETURNING hash, xmax = 0`
	wantedSQL = `SELECT a.ord FROM unnest($2::bigint[], $3::uuid[]) WITH ORDINALITY AS a (host, hash, ord)
		JOIN LATERAL (SELECT claimant FROM resources WHERE job = $1 AND host = a.host AND hash = a.hash LIMIT 1) r ON r.claimant = $4`
)

// Want implements crawl.Resources.
func (r *Resources) Want(ctx context.Context, job crawl.JobID, by crawl.MessageID, now time.Time,
	us []weburl.URL) ([]crawl.Claimed, error) {
	if len(us) == 0 {
		return []crawl.Claimed{}, nil
	}
	b := makeBatch(len(us), func(i int) weburl.Key { return us[i].Key() })
	var out []crawl.Claimed
	var added int64
	err := r.s.do(ctx, fmt.Sprintf("want %d resources, the first %s", len(us), us[0]), func(ctx context.Context) error {
		number, err := r.s.jobs.number(ctx, job)
		if err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, r.s.pool, func(tx pgx.Tx) (err error) {
			c := resourceChange{tx: tx}
			if out, err = c.want(ctx, number, claimantOf(by), now, b, len(us)); err != nil {
				return err
			}
			added = c.delta
			return c.end(ctx, true)
		})
	})
	if err != nil {
		return nil, err
	}
	return out, r.shrink(ctx, added)
}

// ForgetResources implements crawl.Resources.
func (r *Resources) ForgetResources(ctx context.Context, job crawl.JobID) error {
	number, known, err := r.s.jobs.find(ctx, job)
	if err == nil && known {
		_, err = r.erase(ctx, number)
	}
	return err
}

const ofJobSQL = `SELECT job, host, hash, octets, digest FROM resources WHERE job = $1 ORDER BY host, hash LIMIT $2 FOR UPDATE`

// erase removes all rows under a number, some at a time, and returns how many there were.
func (r *Resources) erase(ctx context.Context, number int32) (rows int64, err error) {
	for n := resourceBatch; err == nil && n == resourceBatch; rows += int64(n) {
		err = r.s.do(ctx, "delete rows of resources", func(ctx context.Context) error {
			return pgx.BeginFunc(ctx, r.s.pool, func(tx pgx.Tx) error {
				c := resourceChange{tx: tx}
				found, err := c.rows(ctx, ofJobSQL, number, resourceBatch)
				if n = len(found); err != nil || n == 0 {
					return err
				}
				if err := c.remove(ctx, found); err != nil {
					return err
				}
				return c.end(ctx, true)
			})
		})
	}
	return rows, err
}
