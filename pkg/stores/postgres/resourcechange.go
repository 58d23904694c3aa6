package postgres

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// resourceBatch is how many rows a transaction removes, at most.
const resourceBatch = 500

// resourceLock is the advisory lock of whoever removes the oldest resources.
const resourceLock = 0x7265_6e64_6572_7300

// resourceChange is a transaction that changes resources, bodies and the number of octets together. It locks rows of
// resources first, then bodies in the order of their digests, and a part of the number last, so that transactions wait
// for each other and never in a circle.
type resourceChange struct {
	tx    pgx.Tx
	delta int64 // octets
}

const lockResourceSQL = `SELECT octets, digest FROM resources WHERE job = $1 AND host = $2 AND hash = $3 FOR UPDATE`

func lockResource(ctx context.Context, tx pgx.Tx, job int32, k weburl.Key) (row resourceRow, found bool, err error) {
	row.job, row.key = job, k
	err = tx.QueryRow(ctx, lockResourceSQL, job, hostOf(k), hashOf(k)).Scan(&row.octets, &row.digest)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, err
}

// rows reads and locks the rows that a statement selects.
func (c *resourceChange) rows(ctx context.Context, sql string, args ...any) ([]resourceRow, error) {
	rows, err := c.tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(in pgx.CollectableRow) (row resourceRow, err error) {
		var host int64
		var hash pgtype.UUID
		err = in.Scan(&row.job, &host, &hash, &row.octets, &row.digest)
		row.key = keyOf(host, hash)
		return row, err
	})
}

const (
	removeSQL = `DELETE FROM resources r USING unnest($1::integer[], $2::bigint[], $3::uuid[]) AS a (job, host, hash)
		WHERE r.job = a.job AND r.host = a.host AND r.hash = a.hash`
	lockBodiesSQL    = `SELECT digest, refs, octets FROM resource_bodies WHERE digest = ANY ($1) ORDER BY digest FOR UPDATE`
	releaseBodiesSQL = `UPDATE resource_bodies b SET refs = refs - a.n FROM unnest($1::bytea[], $2::bigint[]) AS a (digest, n) WHERE b.digest = a.digest`
	unusedSQL        = `WITH gone AS (DELETE FROM resource_bodies WHERE digest = ANY ($1) AND refs <= 0 RETURNING octets)
		SELECT coalesce(sum(octets), 0) FROM gone`
)

// remove removes rows that are locked, and bodies that none is left of.
func (c *resourceChange) remove(ctx context.Context, rows []resourceRow) error {
	jobs, hosts, hashes := make([]int32, len(rows)), make([]int64, len(rows)),
		make(pgtype.FlatArray[pgtype.UUID], len(rows))
	refs := map[crawl.Digest]int64{}
	for i := range rows {
		row := &rows[i]
		jobs[i], hosts[i], hashes[i] = row.job, hostOf(row.key), hashOf(row.key)
		c.delta -= row.octets
		if len(row.digest) == len(crawl.Digest{}) {
			refs[crawl.Digest(row.digest)]++
		}
	}
	if _, err := c.tx.Exec(ctx, removeSQL, jobs, hosts, hashes); err != nil {
		return err
	}
	return c.release(ctx, refs)
}

// release counts down how many resources have bodies, and removes those that none has.
func (c *resourceChange) release(ctx context.Context, refs map[crawl.Digest]int64) error {
	digests, counts := make([][]byte, 0, len(refs)), make([]int64, 0, len(refs))
	for d, n := range refs {
		digests, counts = append(digests, bytes.Clone(d[:])), append(counts, n)
	}
	if len(digests) == 0 {
		return nil
	}
	if _, err := c.tx.Exec(ctx, lockBodiesSQL, digests); err != nil {
		return err
	}
	if _, err := c.tx.Exec(ctx, releaseBodiesSQL, digests, counts); err != nil {
		return err
	}
	var gone int64
	err := c.tx.QueryRow(ctx, unusedSQL, digests).Scan(&gone)
	c.delta -= gone
	return err
}

// destroy removes a body that is damaged. The resources that have it are dropped as they are read.
func (c *resourceChange) destroy(ctx context.Context, digest []byte) error {
	var octets int64
	err := c.tx.QueryRow(ctx, `DELETE FROM resource_bodies WHERE digest = $1 RETURNING octets`, digest).Scan(&octets)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	c.delta -= octets
	return err
}

const (
	holdBodySQL = `UPDATE resource_bodies SET refs = refs + 1 WHERE digest = $1`
	addBodySQL  = `INSERT INTO resource_bodies AS b (digest, refs, octets, body) VALUES ($1, 1, $2, $3)
		ON CONFLICT (digest) DO UPDATE SET refs = b.refs + 1 RETURNING xmax = 0`
)

// bodyOctets is what a body takes besides its octets, about.
const bodyOctets = 150

// hold counts one more resource with a body, which it stores where it is not there.
func (c *resourceChange) hold(ctx context.Context, digest, packed []byte) error {
	if digest == nil {
		return nil
	}
	tag, err := c.tx.Exec(ctx, holdBodySQL, digest)
	if err != nil || tag.RowsAffected() > 0 {
		return err
	}
	var added bool
	octets := int64(len(packed)) + bodyOctets
	if err = c.tx.QueryRow(ctx, addBodySQL, digest, octets, packed).Scan(&added); added {
		c.delta += octets
	}
	return err
}

// exchange takes a body in the place of another, of a resource that is locked.
func (c *resourceChange) exchange(ctx context.Context, before, after, packed []byte) error {
	if bytes.Equal(before, after) {
		return nil
	}
	steps := []func() error{
		func() error { return c.hold(ctx, after, packed) },
		func() error {
			if len(before) != len(crawl.Digest{}) {
				return nil
			}
			return c.release(ctx, map[crawl.Digest]int64{crawl.Digest(before): 1})
		},
	}
	if bytes.Compare(before, after) < 0 {
		slices.Reverse(steps)
	}
	return errors.Join(steps[0](), steps[1]())
}

// want notes the wants of a batch and answers for each of n URLs.
func (c *resourceChange) want(ctx context.Context, number int32, by int64, now time.Time, b *batch,
	n int) ([]crawl.Claimed, error) {
	rows, err := c.tx.Query(ctx, wantSQL, number, b.hosts, b.hashes, now, by, rowOctets, crawl.WantAgain)
	if err != nil {
		return nil, err
	}
	var hash pgtype.UUID
	var added bool
	fresh := map[[16]byte]bool{}
	_, err = pgx.ForEachRow(rows, []any{&hash, &added}, func() error {
		if fresh[hash.Bytes] = true; added {
			c.delta += rowOctets
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]crawl.Claimed, n)
	for i := range out {
		out[i] = crawl.Known
	}
	for i, arg := range b.arg {
		if fresh[b.hashes[i].Bytes] {
			out[arg] = crawl.New
		}
	}
	if len(fresh) == len(b.arg) {
		return out, nil
	}
	if rows, err = c.tx.Query(ctx, wantedSQL, number, b.hosts, b.hashes, by); err != nil {
		return nil, err
	}
	var ord int64
	_, err = pgx.ForEachRow(rows, []any{&ord}, func() error {
		if at := b.arg[ord-1]; out[at] == crawl.Known {
			out[at] = crawl.Repeat
		}
		return nil
	})
	return out, err
}

// octetParts is in how many parts the number of octets is kept.
const octetParts = 16

// A crash may forget what was committed softly: it is fetched again.
const (
	addOctetsSQL = `INSERT INTO resource_octets AS o (part, octets) VALUES ($1, $2)
		ON CONFLICT (part) DO UPDATE SET octets = o.octets + excluded.octets`
	addOctetsSoftlySQL = `INSERT INTO resource_octets AS o (part, octets) SELECT $1, $2 FROM set_config('synchronous_commit', 'off', true)
		ON CONFLICT (part) DO UPDATE SET octets = o.octets + excluded.octets`
	octetsSQL = `SELECT coalesce(sum(octets), 0)::bigint FROM resource_octets`
)

// end counts the octets. It is the last step before the commit.
func (c *resourceChange) end(ctx context.Context, durable bool) error {
	if c.delta == 0 {
		return nil
	}
	sql := addOctetsSoftlySQL
	if durable {
		sql = addOctetsSQL
	}
	_, err := c.tx.Exec(ctx, sql, int16(rand.IntN(octetParts)), c.delta)
	return err
}

// shrink removes the resources whose use is oldest, if there are too many octets. It looks when a node has added a
// small part of the bound.
func (r *Resources) shrink(ctx context.Context, added int64) error {
	if added <= 0 || r.added.Add(added) < r.bound/256 {
		return nil
	}
	r.added.Store(0)
	for more := true; more; {
		err := r.s.do(ctx, "remove the oldest resources", func(ctx context.Context) error {
			return pgx.BeginFunc(ctx, r.s.pool, func(tx pgx.Tx) (err error) {
				c := resourceChange{tx: tx}
				if more, err = c.evict(ctx, r.bound); err == nil {
					err = c.end(ctx, false)
				}
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const oldestSQL = `SELECT job, host, hash, octets, digest FROM resources ORDER BY used LIMIT $1 FOR UPDATE SKIP LOCKED`

// evict removes some of the oldest rows, if there are more octets than the bound: a little more than need be. more: it
// may be that others are to go.
func (c *resourceChange) evict(ctx context.Context, bound int64) (more bool, err error) {
	var total int64
	if _, err := c.tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(resourceLock)); err != nil {
		return false, err
	}
	if err := c.tx.QueryRow(ctx, octetsSQL).Scan(&total); err != nil || total <= bound {
		return false, err
	}
	rows, err := c.rows(ctx, oldestSQL, resourceBatch)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	n, err := c.enough(ctx, rows, total-(bound-bound/64))
	if err != nil {
		return false, err
	}
	return true, c.remove(ctx, rows[:n])
}

// enough is how many of the rows, the first ones, free so many octets.
func (c *resourceChange) enough(ctx context.Context, rows []resourceRow, octets int64) (n int, err error) {
	type body struct{ refs, octets int64 }
	var digests [][]byte
	for i := range rows {
		if rows[i].digest != nil {
			digests = append(digests, rows[i].digest)
		}
	}
	found, err := c.tx.Query(ctx, lockBodiesSQL, digests)
	if err != nil {
		return 0, err
	}
	bodies, digest, b := map[string]body{}, []byte(nil), body{}
	if _, err := pgx.ForEachRow(found, []any{&digest, &b.refs, &b.octets},
		func() error { bodies[string(digest)] = b; return nil }); err != nil {
		return 0, err
	}
	for ; n < len(rows) && octets > 0; n++ {
		octets -= rows[n].octets
		b := bodies[string(rows[n].digest)]
		if b.refs--; b.refs == 0 {
			octets -= b.octets
		}
		bodies[string(rows[n].digest)] = b
	}
	return n, nil
}
