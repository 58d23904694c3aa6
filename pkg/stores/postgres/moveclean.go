package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// clean leaves a database what it has under the new list.
func (m *mover) clean(ctx context.Context, at *Store) error {
	err := m.clear(ctx, at)
	if err == nil && slices.Contains(m.to, at) {
		for _, table := range tablesThatAre(byHash, byHost, inNotes) {
			if err == nil {
				err = m.cleanTable(ctx, table, at)
			}
		}
		if err == nil {
			err = m.countTallies(ctx, at)
		}
	}
	if err == nil {
		_, err = at.pool.Exec(ctx, `DELETE FROM ledger_moved`)
	}
	if err == nil {
		err = m.after("a server is cleaned")
	}
	if err != nil {
		return err
	}
	m.say("cleaned: %s", at.address())
	return nil
}

// clear empties tables: looks, whose audits have ended, and where a server has no part of the ledger any more, all that
// it had.
func (m *mover) clear(ctx context.Context, at *Store) error {
	tables := tablesThatAre(ofLooks)
	if !slices.Contains(m.to, at) {
		tables = append(tables, tablesThatAre(byHash, byHost, inNotes, ofRows)...)
		tables = append(tables, "followed_since")
		if at != m.main {
			if err := (&Members{at}).reset(ctx); err != nil {
				return err
			}
		}
	}
	if _, err := at.pool.Exec(ctx, `TRUNCATE `+strings.Join(tables, ", ")); err != nil {
		return err
	}
	return m.after("tables are emptied")
}

// cleanTable deletes what a server of the new list had before and has no more.
func (m *mover) cleanTable(ctx context.Context, table string, at *Store) error {
	segments := m.outgoing(at)
	if len(segments) == 0 {
		return nil
	}
	if placings[table] == inNotes {
		err := pgx.BeginFunc(ctx, at.pool, func(tx pgx.Tx) error { return removeRows(ctx, tx, table, segments) })
		if err != nil {
			return err
		}
		return m.after("notes are deleted")
	}
	for job, none, err := nextJob(ctx, at, table, math.MinInt32); !none || err != nil; job, none, err = nextJob(ctx, at,
		table, job) {
		for i := range segments {
			if err == nil {
				err = m.deleteRows(ctx, table, job, &segments[i])
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

// deleteRows deletes the rows of a job and a segment in batches, in the order of their keys.
func (m *mover) deleteRows(ctx context.Context, table string, job int32, g *segment) error {
	for rows := int64(m.rows); rows == int64(m.rows); {
		err := pgx.BeginFunc(ctx, g.from.pool, func(tx pgx.Tx) (err error) {
			rows, err = m.deleteSome(ctx, tx, table, job, g)
			return err
		})
		if err == nil {
			err = m.after("rows are deleted")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteSome deletes a batch: the rows up to a key. A condition for the host alone goes with it, since the planner
// knows how many rows that leaves.
func (m *mover) deleteSome(ctx context.Context, tx pgx.Tx, table string, job int32, g *segment) (int64, error) {
	if _, err := tx.Exec(ctx, walkSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
		return 0, err
	}
	end := g.last
	last := reached{host: &end}
	err := lastOf(ctx, tx, table, job, g, m.rows, &last)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, err
	}
	sql := `DELETE FROM ` + table + ` WHERE job = $1 AND host BETWEEN $2 AND $3`
	args := []any{job, g.first, *last.host}
	if last.hash != nil {
		sql += ` AND (host, hash) <= ($3, $4::text::uuid)`
		args = append(args, *last.hash)
	}
	tag, err := tx.Exec(ctx, sql, args...)
	return tag.RowsAffected(), err
}

// lastOf finds the key of the n-th row of a job and a segment; pgx.ErrNoRows: there are fewer.
func lastOf(ctx context.Context, tx pgx.Tx, table string, job int32, g *segment, n int, key *reached) error {
	hash := "hash::text"
	if placings[table] == byHost {
		hash = "NULL::text"
	}
	sql := fmt.Sprintf(`SELECT host, %s FROM %s WHERE job = $1 AND host BETWEEN $2 AND $3 ORDER BY %s OFFSET $4 LIMIT 1`,
		hash, table, keyOfTable(table))
	return tx.QueryRow(ctx, sql, job, g.first, g.last, n-1).Scan(&key.host, &key.hash)
}

// countTallies counts the tallies of a server from its rows, and lets it look what its tables have: the planner knows
// nothing of them yet.
func (m *mover) countTallies(ctx context.Context, at *Store) error {
	err := pgx.BeginFunc(ctx, at.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, reportSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM tallies`); err != nil {
			return err
		}
		for job, none, err := nextJob(ctx, at, "urls", math.MinInt32); !none || err != nil; job, none, err = nextJob(ctx, at,
			"urls", job) {
			if err == nil {
				_, err = tx.Exec(ctx, recountTalliesSQL, job)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_, err = at.pool.Exec(ctx, `ANALYZE `+strings.Join(tablesThatAre(byHash, byHost, inNotes, ofRows), ", "))
	}
	if err != nil {
		return fmt.Errorf("count tallies: %w", err)
	}
	return m.after("tallies are counted")
}
