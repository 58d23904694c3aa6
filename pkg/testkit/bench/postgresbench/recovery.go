package postgresbench

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// recoveryParts are the parts of a ring that a node takes over: a virtual node of 16,384, what joins a thousand nodes,
// and a sixth; and all of it, which a node read before ledgers had ranges, whatever it took over.
var recoveryParts = []struct {
	name   string
	vnodes int // of 16,384, as evenly apart as they can be: owners are assigned one by one
}{{"whole ring", 16_384}, {"1 vnode", 1}, {"1/1000", 16}, {"1/64", 256}, {"1/6", 2_731}}

// Recovery measures what a node reads of the ledger that takes over a part of the ring: rows that the server sent, rows
// and pages (8 KB) that it looked at, its processor time. One row in a hundred is open.
func Recovery(ctx context.Context, server string, sizes []int64, w io.Writer) error {
	return withScratch(ctx, server, w, func(s *scratch) error {
		if _, err := fmt.Fprintf(w, "open URLs of a part of the ring\n%12s %12s %10s %14s %14s %12s %12s\n", "rows", "part",
			"sent", "rows read", "pages read",
			"its CPU ms", "took ms"); err != nil {
			return err
		}
		var rows int64
		for _, size := range sizes {
			if err := s.fillWhole(ctx, rows, size); err != nil {
				return err
			}
			if err := s.run(ctx, `CREATE INDEX urls_open ON urls (host) WHERE state = 1`, `VACUUM ANALYZE urls`); err != nil {
				return err
			}
			rows = size
			if err := s.recoverBefore(ctx, size); err != nil {
				return err
			}
			for _, p := range recoveryParts {
				if err := s.recover(ctx, size, p.name, vnodesApart(p.vnodes)); err != nil {
					return err
				}
			}
		}
		_, err := fmt.Fprintln(w, "reproduce: whirlpool bench postgres-recovery")
		return err
	})
}

// vnodesApart returns n of 16,384 virtual nodes.
func vnodesApart(n int) (in []weburl.KeyRange) {
	const all, size = 16_384, math.MaxUint64/16_384 + 1
	if n == all {
		return weburl.AllKeys()
	}
	for i := range n {
		first := uint64(i*(all/n)) * size
		in = append(in, weburl.KeyRange{First: first, Last: first + size - 1})
	}
	return in
}

// recover reads with a store of its own: the server counts what a session read when it ends.
func (s *scratch) recover(ctx context.Context, rows int64, name string, in []weburl.KeyRange) error {
	cfg := s.cfg
	cfg.SkipSchema = true
	store, err := postgres.Open(ctx, cfg)
	if err != nil {
		return err
	}
	return s.measured(ctx, rows, name, store.Close, func() (sent int, err error) {
		err = store.URLs().Open(ctx, in, func(weburl.URL) bool { return true }, func(crawl.Task) error { sent++; return nil })
		return sent, err
	})
}

// recoverBefore reads as builds did before open URLs had an index: whatever a node took over, it read the whole table.
func (s *scratch) recoverBefore(ctx context.Context, rows int64) error {
	cfg := s.conn.Config()
	cfg.RuntimeParams["application_name"] = "whirlpool" // its CPU time is counted
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	end := func() { _ = conn.Close(ctx) }
	return s.measured(ctx, rows, "any, before", end, func() (sent int, err error) {
		if _, err := conn.Exec(ctx, `SET enable_indexscan = off; SET enable_bitmapscan = off;
			SET enable_indexonlyscan = off`); err != nil {
			return 0, err
		}
		all, err := conn.Query(ctx, `SELECT job, url, kind, task FROM urls WHERE state = 1`)
		if err != nil {
			return 0, err
		}
		defer all.Close()
		for all.Next() {
			sent++
		}
		return sent, all.Err()
	})
}

// measured prints what the server read for a session, which end ends.
func (s *scratch) measured(ctx context.Context, rows int64, name string, end func(),
	read func() (sent int, err error)) error {
	before, err := s.reads(ctx)
	if err != nil {
		end()
		return err
	}
	cpu, start := s.cpu(ctx), time.Now()
	sent, err := read()
	took, used := time.Since(start), s.cpu(ctx).since(cpu)
	end()
	if err != nil {
		return err
	}
	after, err := s.settledReads(ctx, before)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%12d %12s %10d %14d %14d %12.0f %12.0f\n", rows, name, sent, after.rows-before.rows,
		after.pages-before.pages,
		float64(used.server.Milliseconds()), float64(took.Milliseconds()))
	return err
}

// tableReads are the rows and pages of the URLs and their indexes that sessions which have ended looked at.
type tableReads struct{ rows, pages int64 }

func (s *scratch) reads(ctx context.Context) (r tableReads, err error) {
	const sql = `SELECT sum(t.seq_tup_read + coalesce(t.idx_tup_fetch, 0))::bigint,
			sum(i.heap_blks_read + i.heap_blks_hit + coalesce(i.idx_blks_read, 0) + coalesce(i.idx_blks_hit, 0))::bigint
		FROM pg_stat_user_tables t JOIN pg_statio_user_tables i USING (relid) WHERE t.relname LIKE 'urls\_%'`
	return r, s.conn.QueryRow(ctx, sql).Scan(&r.rows, &r.pages)
}

// settledReads waits until the server has counted what a session read that ended, for a few seconds at most: a session
// that looked at nothing changes nothing.
func (s *scratch) settledReads(ctx context.Context, before tableReads) (r tableReads, err error) {
	for range 50 {
		if r, err = s.reads(ctx); err != nil || r != before {
			return r, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
	return r, nil
}
