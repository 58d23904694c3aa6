package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// copyToEach brings what each server has to those of the new list. Registrations of the ring are over everywhere: they
// ended when the move began. What was followed on a ring was said of all servers by one call, so the latest time
// counts.
func (m *mover) copyToEach(ctx context.Context) error {
	var members []memberRow
	members, err := (&Members{m.main}).rows(ctx)
	if err != nil {
		return err
	}
	since := map[int32]time.Time{}
	for _, at := range m.from {
		if err := readSince(ctx, at, since); err != nil {
			return err
		}
	}
	for _, at := range m.to {
		err := pgx.BeginFunc(ctx, at.pool, func(tx pgx.Tx) error {
			return writeToEach(ctx, tx, members, since)
		})
		if err == nil {
			err = m.after("what each server has is copied")
		}
		if err != nil {
			return fmt.Errorf("what each server has, to %s: %w", at.address(), err)
		}
	}
	return nil
}

func readSince(ctx context.Context, at *Store, since map[int32]time.Time) error {
	rows, err := at.pool.Query(ctx, `SELECT job, since FROM followed_since`)
	if err != nil {
		return err
	}
	var job int32
	var t time.Time
	_, err = pgx.ForEachRow(rows, []any{&job, &t}, func() error {
		if t.After(since[job]) {
			since[job] = t
		}
		return nil
	})
	return err
}

const (
	memberSQL = `INSERT INTO members AS m (node, incarnation, entered, floor, fenced) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (node) DO UPDATE SET incarnation = excluded.incarnation, entered = excluded.entered,
			floor = greatest(m.floor, excluded.floor), fenced = excluded.fenced
		WHERE m.incarnation <= excluded.incarnation`
	sinceSQL = `INSERT INTO followed_since (job, since) VALUES ($1, $2) ON CONFLICT (job) DO UPDATE SET since = excluded.since`
)

func writeToEach(ctx context.Context, tx pgx.Tx, members []memberRow, since map[int32]time.Time) error {
	b := &pgx.Batch{}
	for _, r := range members {
		b.Queue(memberSQL, r.node, r.incarnation, r.entered, r.floor, r.fenced)
	}
	for job, t := range since {
		b.Queue(sinceSQL, job, t)
	}
	return tx.SendBatch(ctx, b).Close()
}

// rowSum is the number of rows of a segment, and the sum of their hashes.
type rowSum struct {
	rows int64
	sum  string
}

// compareAll compares what was copied with what is there to be copied: numbers of rows, and sums of their hashes.
func (m *mover) compareAll(ctx context.Context) error {
	m.say("comparing")
	for _, table := range tablesThatAre(byHash, byHost, inNotes) {
		sums := map[*Store][]rowSum{}
		var mu sync.Mutex
		err := m.side(ctx, func(ctx context.Context, at *Store) error {
			s, err := m.sumsOf(ctx, table, at)
			mu.Lock()
			defer mu.Unlock()
			sums[at] = s
			return err
		})
		if err != nil {
			return fmt.Errorf("compare %s: %w", table, err)
		}
		if err := m.compare(ctx, table, sums); err != nil {
			return err
		}
	}
	return m.after("all is compared")
}

func (m *mover) compare(ctx context.Context, table string, sums map[*Store][]rowSum) error {
	rows := map[*Store]int64{}
	for i, g := range m.parts {
		there, here := sums[g.from][i], sums[g.to][i]
		if there != here {
			// The next run copies it again.
			_, err := g.to.pool.Exec(ctx, `DELETE FROM ledger_moved WHERE tbl = $1`, table)
			if err != nil {
				return err
			}
			return fmt.Errorf("%s: a part of it has %d rows at %s, and its copy at %s has %d, or other ones. "+
				"Somebody wrote meanwhile", table, there.rows, g.from.address(), g.to.address(), here.rows)
		}
		rows[g.to] += here.rows
	}
	for _, at := range m.to {
		if rows[at] > 0 {
			m.say("%s: %s has %d rows, as there were", table, at.address(), rows[at])
		}
	}
	return nil
}

// sumSettings make the text of a row the same everywhere.
const sumSettings = reportSettings + `; SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL bytea_output = 'hex'`

// sumsOf adds up the rows of a table by segments.
func (m *mover) sumsOf(ctx context.Context, table string, at *Store) ([]rowSum, error) {
	firsts := make([]int64, 0, len(m.parts))
	for _, g := range m.parts {
		firsts = append(firsts, g.first)
	}
	sums := make([]rowSum, len(m.parts))
	return sums, pgx.BeginTxFunc(ctx, at.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sumSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		columns, of := "", table
		if err := tx.QueryRow(ctx, columnsSQL, table).Scan(&columns); err != nil {
			return err
		}
		if placings[table] == inNotes {
			columns = "job, noted, host, hash"
			of = `(SELECT f.job, f.noted, a.host, a.hash FROM ` + table + ` f, unnest(f.hosts, f.hashes) AS a (host, hash)) n`
		}
		rows, err := tx.Query(ctx, `SELECT width_bucket(host, $1::bigint[]) - 1, count(*),
			sum(hashtextextended(ROW(`+columns+`)::text, 0))::text FROM `+of+` GROUP BY 1`, firsts)
		if err != nil {
			return err
		}
		var i int
		var s rowSum
		_, err = pgx.ForEachRow(rows, []any{&i, &s.rows, &s.sum}, func() error { sums[i] = s; return nil })
		return err
	})
}
