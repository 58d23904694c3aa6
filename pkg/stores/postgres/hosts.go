package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Hosts is the records of hosts and the robots.txt files, over all jobs.
type Hosts struct{ s *Store }

var (
	_ crawl.Hosts       = (*Hosts)(nil)
	_ crawl.RobotsStore = (*Hosts)(nil)
)

const hostsSQL = `
	SELECT a.ord, h.record FROM unnest($1::text[]) WITH ORDINALITY AS a (key, ord)
	JOIN LATERAL (SELECT record FROM hosts WHERE hosts.key = a.key LIMIT 1) h ON true`

// Hosts implements crawl.Hosts.
func (h *Hosts) Hosts(ctx context.Context, keys ...string) ([]crawl.Host, error) {
	out := make([]crawl.Host, len(keys))
	asked := make([]string, len(keys))
	for i, k := range keys {
		out[i].Key, asked[i] = k, indexed(k)
	}
	if len(keys) == 0 {
		return out, nil
	}
	err := h.s.do(ctx, fmt.Sprintf("read %d host records, the first %s", len(keys), keys[0]),
		func(ctx context.Context) error {
			rows, err := h.s.pool.Query(ctx, hostsSQL, asked)
			if err != nil {
				return err
			}
			var ord int64
			var record []byte
			_, err = pgx.ForEachRow(rows, []any{&ord, &record}, func() error {
				var rec crawl.Host
				if err := crawl.DecodeValue(record, &rec); err != nil {
					return fmt.Errorf("record of host %s: %w", keys[ord-1], err)
				}
				rec.Key = keys[ord-1]
				out[ord-1] = rec
				return nil
			})
			return err
		})
	return out, err
}

const putHostsSQL = `
	INSERT INTO hosts (key, record, changed) SELECT a.key, a.record, now() FROM unnest($1::text[], $2::bytea[]) AS a (key, record)
	ON CONFLICT (key) DO UPDATE SET record = excluded.record, changed = excluded.changed`

// PutHosts implements crawl.Hosts.
func (h *Hosts) PutHosts(ctx context.Context, hosts ...crawl.Host) error {
	if len(hosts) == 0 {
		return nil
	}
	last := make(map[string][]byte, len(hosts)) // of records of one host the last counts
	for _, host := range hosts {
		key := host.Key
		host.Key = "" // it is in its column, and may be no text that the codec takes
		record, err := crawl.EncodeValue(&host)
		if err != nil {
			return crawl.Permanent(fmt.Errorf("record of host %s: %w", key, err))
		}
		last[indexed(key)] = record
	}
	keys := slices.Sorted(maps.Keys(last))
	records := make([][]byte, len(keys))
	for i, k := range keys {
		records[i] = last[k]
	}
	return h.s.do(ctx, fmt.Sprintf("write %d host records, the first %s", len(keys), keys[0]),
		func(ctx context.Context) error {
			return h.s.write(ctx, nil, putHostsSQL, keys, records)
		})
}

// Robots implements crawl.RobotsStore.
func (h *Hosts) Robots(ctx context.Context, origin string) (r crawl.Robots, found bool, err error) {
	err = h.s.do(ctx, "read robots.txt of "+origin, func(ctx context.Context) error {
		const sql = `SELECT state, status, fetched, expires, body, job FROM robots WHERE origin = $1`
		var state int16
		var fetched, expires time.Time
		r = crawl.Robots{Origin: origin}
		err := h.s.pool.QueryRow(ctx, sql, indexed(origin)).Scan(&state, &r.Status, &fetched, &expires, &r.Body, &r.Job)
		if found = err == nil; found {
			r.State, r.FetchedAt, r.Expires = crawl.RobotsState(state), fetched.UTC(), expires.UTC()
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return r, found, err
}

// PutRobots implements crawl.RobotsStore.
func (h *Hosts) PutRobots(ctx context.Context, r crawl.Robots) error {
	return h.s.do(ctx, "write robots.txt of "+r.Origin, func(ctx context.Context) error {
		const sql = `
			INSERT INTO robots (origin, state, status, fetched, expires, body, job) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (origin) DO UPDATE SET state = excluded.state, status = excluded.status, fetched = excluded.fetched,
				expires = excluded.expires, body = excluded.body, job = excluded.job`
		_, err := h.s.pool.Exec(ctx, sql, indexed(r.Origin), int16(r.State), int32(r.Status), r.FetchedAt, r.Expires, r.Body,
			r.Job)
		return err
	})
}
