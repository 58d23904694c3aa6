package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Revisits is what is remembered of pages between their visits: one row a page. Those of a page are written by the node
// that owns its host alone; on a ring its registration is checked with each write.
type Revisits struct{ s *Store }

var _ crawl.SharedRevisits = (*Revisits)(nil)

// Revisits returns what is remembered of pages between their visits.
func (s *Store) Revisits() *Revisits { return &Revisits{s} }

// The statements. revisitPutSQL leaves states of more visits alone.
const (
	revisitPutSQL = `
	INSERT INTO revisits AS r (job, host, hash, visits, bucket, state, url)
	SELECT $1, a.host, a.hash, a.visits, a.bucket, a.state, a.url
	FROM unnest($2::bigint[], $3::uuid[], $4::integer[], $5::bigint[], $6::bytea[], $7::text[]) AS a (host, hash, visits, bucket, state, url)
	ON CONFLICT (job, host, hash) DO UPDATE SET visits = excluded.visits, bucket = excluded.bucket, state = excluded.state
	WHERE excluded.visits >= r.visits`
	revisitStatesSQL = `
	SELECT a.ord, r.state
	FROM unnest($2::bigint[], $3::uuid[]) WITH ORDINALITY AS a (host, hash, ord)
	JOIN LATERAL (SELECT state FROM revisits WHERE job = $1 AND host = a.host AND hash = a.hash LIMIT 1) r ON true`
	revisitDropSQL = `
	DELETE FROM revisits r USING unnest(array_fill($1::integer, ARRAY[cardinality($2::bigint[])]), $2, $3::uuid[]) AS a (job, host, hash)
	WHERE r.job = a.job AND r.host = a.host AND r.hash = a.hash`
	revisitEachSQL    = `SELECT host, hash, state FROM revisits WHERE job = $1 ORDER BY host, hash`
	revisitEachURLSQL = `SELECT url, state FROM revisits WHERE job = $1 ORDER BY host, hash`
)

// Put implements crawl.Revisits.
func (r *Revisits) Put(ctx context.Context, job crawl.JobID, rs ...crawl.Revisit) error {
	key := func(p *crawl.Revisit) weburl.Key { return p.URL.Key() }
	return onServers(r.s, rs, key,
		func(at *Store, part []crawl.Revisit, _ []int) error { return (&Revisits{at}).put(ctx, job, part) })
}

func (r *Revisits) put(ctx context.Context, job crawl.JobID, rs []crawl.Revisit) error {
	if len(rs) == 0 {
		return nil
	}
	rs = lastVisits(rs)
	b := makeBatch(len(rs), func(i int) weburl.Key { return rs[i].URL.Key() })
	states := column(b, func(i int) []byte { return rs[i].State.Append(nil) }) //nolint:staticcheck // named, so that a reader sees what it is
	buckets := make([]*int64, len(states))
	for i := range states {
		// What is read again is what counts: a state is stored with times that are moved to its bounds.
		s, err := revisit.DecodeState(states[i])
		if err != nil {
			return crawl.Permanent(fmt.Errorf("remember %s between its visits: %w", rs[b.arg[i]].URL, err))
		}
		if !s.Due.IsZero() {
			n := int64(revisit.Bucket(s.Due))
			buckets[i] = &n
		}
	}
	args := []any{int32(0), b.hosts, b.hashes, column(b, func(i int) int32 { return int32(rs[i].Visits) }), buckets,
		states, column(b, func(i int) string { return rs[i].URL.String() })}
	return r.change(ctx, job, fmt.Sprintf("remember %d pages between their visits, the first %s", len(rs), rs[0].URL),
		revisitPutSQL, args)
}

// lastVisits leaves of several states of one page the one that Put stores last.
func lastVisits(rs []crawl.Revisit) []crawl.Revisit {
	out, at := make([]crawl.Revisit, 0, len(rs)), make(map[weburl.Key]int, len(rs))
	for _, p := range rs {
		i, twice := at[p.URL.Key()]
		switch {
		case !twice:
			at[p.URL.Key()] = len(out)
			out = append(out, p)
		case p.Visits >= out[i].Visits:
			out[i] = p
		}
	}
	return out
}

// change sends a statement that changes rows of a job, whose number is to be its first argument.
func (r *Revisits) change(ctx context.Context, job crawl.JobID, what, sql string, args []any) error {
	return r.s.do(ctx, what, func(ctx context.Context) error {
		number, err := r.s.jobs.number(ctx, job)
		if err != nil {
			return err
		}
		args[0] = number
		return r.s.write(ctx, nil, sql, args...)
	})
}

// States implements crawl.Revisits.
func (r *Revisits) States(ctx context.Context, job crawl.JobID, keys ...weburl.Key) ([]revisit.State, error) {
	return onServersAsk(r.s, keys, sameKey, func(at *Store, part []weburl.Key) ([]revisit.State, error) {
		return (&Revisits{at}).states(ctx, job, part)
	})
}

func (r *Revisits) states(ctx context.Context, job crawl.JobID, keys []weburl.Key) ([]revisit.State, error) {
	out := make([]revisit.State, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	hosts := make([]int64, len(keys))
	for i, k := range keys {
		hosts[i] = hostOf(k)
	}
	what := fmt.Sprintf("what is remembered of %d URLs, the first %s", len(keys), keys[0])
	return out, r.eachStored(ctx, job, what, revisitStatesSQL, []any{hosts, makeHashes(keys)},
		func(i int64, stored []byte) (err error) {
			out[i], err = revisit.DecodeState(stored)
			return err
		})
}

// eachStored hands what a statement finds of a job, which is its first argument, to a function: the place of what was
// asked for, counted from 0, and the stored octets, which are valid during the call.
func (r *Revisits) eachStored(ctx context.Context, job crawl.JobID, what, statement string, args []any,
	each func(i int64, stored []byte) error) error {
	return r.s.do(ctx, what, func(ctx context.Context) error {
		number, known, err := r.s.jobs.find(ctx, job)
		if err != nil || !known {
			return err
		}
		rows, err := r.s.pool.Query(ctx, statement, append([]any{number}, args...)...)
		if err != nil {
			return err
		}
		var ord int64
		var stored pgtype.DriverBytes // of the connection's buffer, until the next row
		_, err = pgx.ForEachRow(rows, []any{&ord, &stored}, func() error { return each(ord-1, stored) })
		return err
	})
}

// Drop implements crawl.Revisits.
func (r *Revisits) Drop(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error {
	if _, known, err := r.s.jobs.find(ctx, job); err != nil || !known || len(keys) == 0 {
		return err
	}
	return onServers(r.s, keys, sameKey, func(at *Store, part []weburl.Key, _ []int) error {
		b := makeBatch(len(part), func(i int) weburl.Key { return part[i] })
		return (&Revisits{at}).change(ctx, job, fmt.Sprintf("forget %d pages between their visits", len(part)),
			revisitDropSQL, []any{int32(0), b.hosts, b.hashes})
	})
}

// Each implements crawl.Revisits, over what each server has at one moment. While it runs, the server keeps all row
// versions since that moment.
func (r *Revisits) Each(ctx context.Context, job crawl.JobID, each func(weburl.Key, revisit.State) error) error {
	return r.s.inTurn(func(at *Store) error { return (&Revisits{at}).each(ctx, job, each) })
}

func (r *Revisits) each(ctx context.Context, job crawl.JobID, each func(weburl.Key, revisit.State) error) error {
	number, known, err := r.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	return r.s.report(ctx, fmt.Sprintf("what is remembered of the pages of job %q", job),
		func(ctx context.Context, tx pgx.Tx) error {
			rows, err := tx.Query(ctx, revisitEachSQL, number)
			if err != nil {
				return err
			}
			var host int64
			var hash pgtype.UUID
			var state pgtype.DriverBytes
			_, err = pgx.ForEachRow(rows, []any{&host, &hash, &state}, func() error {
				s, err := revisit.DecodeState(state)
				if err != nil {
					return fmt.Errorf("URL %s: %w", keyOf(host, hash), err)
				}
				return each(keyOf(host, hash), s)
			})
			return err
		})
}

// EachURL implements crawl.SharedRevisits.
func (r *Revisits) EachURL(ctx context.Context, job crawl.JobID, each func(crawl.Revisit) error) error {
	return r.s.inTurn(func(at *Store) error { return (&Revisits{at}).eachURL(ctx, job, each) })
}

func (r *Revisits) eachURL(ctx context.Context, job crawl.JobID, each func(crawl.Revisit) error) error {
	number, known, err := r.s.jobs.find(ctx, job)
	if err != nil || !known {
		return err
	}
	return r.s.report(ctx, fmt.Sprintf("what is remembered of the pages of job %q", job),
		func(ctx context.Context, tx pgx.Tx) error {
			rows, err := tx.Query(ctx, revisitEachURLSQL, number)
			if err != nil {
				return err
			}
			var url, state pgtype.DriverBytes
			_, err = pgx.ForEachRow(rows, []any{&url, &state}, func() (err error) {
				var p crawl.Revisit
				if p.URL, err = weburl.ParseStored(url); err == nil {
					p.State, err = revisit.DecodeState(state)
				}
				if err != nil {
					return err
				}
				return each(p)
			})
			return err
		})
}
