package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// moveMark is what the main server knows of a move. Servers are named by the ids of their databases.
type moveMark struct {
	move         string
	step         moveStep
	main         string // what the main server would be in a list
	from, to     []string
	fromAt, toAt []string // for people
}

const (
	markSQL = `SELECT move::text, step, server::text, from_servers::text[], to_servers::text[], from_at, to_at FROM ledger_move
		WHERE from_servers IS NOT NULL`
	beginMoveSQL = `WITH programs AS (INSERT INTO ledger_servers (place, cluster, servers) VALUES (0, gen_random_uuid(), -1)
			ON CONFLICT (place) DO UPDATE SET servers = excluded.servers)
		INSERT INTO ledger_move (move, server, from_servers, to_servers, from_at, to_at)
		VALUES (gen_random_uuid(), $1::text::uuid, $2::text[]::uuid[], $3::text[]::uuid[], $4, $5)`
	markedSQL = `SELECT coalesce((SELECT server::text FROM ledger_move WHERE move = $1::text::uuid), '')`
	placedSQL = `SELECT EXISTS (SELECT FROM ledger_servers WHERE place > 0 AND server = $1::text::uuid)`
)

// readMark reads the mark of a move that has begun.
func (m *mover) readMark(ctx context.Context) (begun bool, err error) {
	err = m.main.do(ctx, "the move of the ledger", func(ctx context.Context) error {
		k := &m.mark
		err := m.main.pool.QueryRow(ctx, markSQL).Scan(&k.move, &k.step, &k.main, &k.from, &k.to, &k.fromAt, &k.toAt)
		begun = err == nil
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return begun, err
}

// begin marks the main server: from here on no program of the cluster starts.
func (m *mover) begin(ctx context.Context) error {
	for _, o := range m.opened { // those that are new
		if err := migrate(ctx, o.pool, o.log); err != nil {
			return err
		}
	}
	k := &m.mark
	k.fromAt, k.toAt = addressesOf(m.from, len(m.cfg.Ledger)), addressesOf(m.to, len(m.urls))
	server, err := m.serverOf(ctx, m.main)
	if err != nil {
		return err
	}
	if _, err := m.main.pool.Exec(ctx, beginMoveSQL, server, k.from, k.to, k.fromAt, k.toAt); err != nil {
		return fmt.Errorf("mark the move at %s: %w", m.main.address(), err)
	}
	if _, err := m.readMark(ctx); err != nil {
		return err
	}
	m.say("moving the ledger from %s to %s", listText(k.fromAt), listText(k.toAt))
	return m.after("the main server is marked")
}

func addressesOf(list []*Store, n int) []string {
	out := make([]string, n) // not nil: an empty list of the database
	for i := range out {
		out[i] = list[i].address()
	}
	return out
}

// serverOf is the id of a database that takes part; that of the main server, where it has no part of the ledger, is of
// no use.
func (m *mover) serverOf(ctx context.Context, at *Store) (id string, err error) {
	for _, of := range []struct {
		list []*Store
		ids  []string
	}{{m.from, m.mark.from}, {m.to, m.mark.to}} {
		if i := slices.Index(of.list, at); i >= 0 && len(of.ids) > 0 {
			return of.ids[i], nil
		}
	}
	return newID(ctx, at)
}

func newID(ctx context.Context, at *Store) (id string, err error) {
	err = at.pool.QueryRow(ctx, `SELECT gen_random_uuid()::text`).Scan(&id)
	return id, err
}

// identify compares the servers with those with which the move began.
func (m *mover) identify(ctx context.Context) error {
	for _, o := range m.opened {
		if o.Store == m.main {
			continue
		}
		if err := m.identifyOne(ctx, o.Store); err != nil {
			return err
		}
	}
	return nil
}

func (m *mover) identifyOne(ctx context.Context, at *Store) error {
	want, err := m.serverOf(ctx, at)
	if err != nil {
		return err
	}
	marked, err := m.markOf(ctx, at)
	switch {
	case err != nil:
		return err
	case marked == want || marked == "" && m.mark.step == stepUnmark:
		return nil
	case marked != "" || m.mark.step != stepMark && m.mark.step != stepCancel:
		return m.otherMove()
	}
	// Its mark was not written yet, or is removed.
	if slices.Contains(m.from, at) {
		var placed bool
		if err := at.pool.QueryRow(ctx, placedSQL, want).Scan(&placed); err != nil || placed {
			return err
		}
		return m.otherMove()
	}
	return m.mustBeNew(ctx, at)
}

// markOf is the id that a database has in this move; empty: it knows nothing of it.
func (m *mover) markOf(ctx context.Context, at *Store) (server string, err error) {
	var there bool
	err = at.pool.QueryRow(ctx, `SELECT to_regclass('ledger_move') IS NOT NULL`).Scan(&there)
	if err == nil && there {
		err = at.pool.QueryRow(ctx, markedSQL, m.mark.move).Scan(&server)
	}
	return server, err
}

func (m *mover) otherMove() error {
	return fmt.Errorf("%w: its move began with others. postgres.ledger must be as it was then (%s), and the new servers "+
		"those of then, in their order (%s)", ErrLedger, listText(m.mark.fromAt), listText(m.mark.toAt))
}

// markAll marks the other databases.
func (m *mover) markAll(ctx context.Context) error {
	for _, o := range m.opened {
		if o.Store == m.main {
			continue
		}
		if err := migrate(ctx, o.pool, o.log); err != nil {
			return err
		}
		server, err := m.serverOf(ctx, o.Store)
		if err == nil {
			const sql = `INSERT INTO ledger_move (move, server) VALUES ($1::text::uuid, $2::text::uuid) ON CONFLICT DO NOTHING`
			_, err = o.pool.Exec(ctx, sql, m.mark.move, server)
		}
		if err == nil {
			err = m.after("a server is marked")
		}
		if err != nil {
			return fmt.Errorf("mark the move at %s: %w", o.address(), err)
		}
	}
	return m.setStep(ctx, stepCopy)
}

func (m *mover) setStep(ctx context.Context, step moveStep) error {
	const sql = `UPDATE ledger_move SET step = $1 WHERE from_servers IS NOT NULL`
	if _, err := m.main.pool.Exec(ctx, sql, int16(step)); err != nil {
		return fmt.Errorf("note how far the move is: %w", err)
	}
	m.mark.step = step
	return m.after("a step is noted")
}

const (
	// fenceSQL ends all registrations: it waits for their writes, and refuses later ones.
	fenceSQL  = `SELECT refuse(node, incarnation, floor, true) FROM members WHERE node <> '' AND NOT fenced`
	writesSQL = `LOCK TABLE urls, tallies, following, followed, unkept, redirects, places, revisits, habits IN SHARE MODE`
)

// settle waits until nobody writes to the ledger. A program that was not seen may believe in jobs for a while; what it
// then has sent has come to its end when the tables are locked for a moment.
func (m *mover) settle(ctx context.Context) error {
	select {
	case <-time.After(m.cfg.JobExpiry):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for _, o := range m.opened {
		for _, sql := range []string{fenceSQL, writesSQL} {
			err := pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, sql)
				return err
			})
			if err == nil {
				err = m.after("writes have ended")
			}
			if err != nil {
				return fmt.Errorf("wait for the writes to %s: %w", o.address(), err)
			}
		}
	}
	return m.noPrograms(ctx)
}

// switchList makes the new list the one that counts.
func (m *mover) switchList(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, m.main.pool, func(tx pgx.Tx) error {
		const list = `INSERT INTO ledger_list (place, server) SELECT ord, server::uuid
			FROM unnest($1::text[]) WITH ORDINALITY AS a (server, ord)`
		if _, err := tx.Exec(ctx, `DELETE FROM ledger_list`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, list, m.mark.to); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE ledger_move SET step = $1 WHERE from_servers IS NOT NULL`, int16(stepClean))
		return err
	})
	if err != nil {
		return fmt.Errorf("switch the list: %w", err)
	}
	m.mark.step = stepClean
	return m.after("the list is switched")
}

// enlistAt makes a database say what it is under the new list.
func (m *mover) enlistAt(ctx context.Context, at *Store) error {
	var cluster string
	if err := m.main.pool.QueryRow(ctx, `SELECT cluster::text FROM ledger_servers WHERE place = 0`).
		Scan(&cluster); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, at.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM ledger_servers WHERE place > 0`)
		if i := slices.Index(m.to, at); err == nil && i >= 0 && len(m.urls) > 0 {
			_, err = tx.Exec(ctx, `INSERT INTO ledger_servers (place, cluster, servers, server)
				VALUES ($1, $2::text::uuid, $3, $4::text::uuid)`, i+1, cluster, len(m.urls), m.mark.to[i])
		}
		return err
	})
	if err != nil {
		return err
	}
	return m.after("a server knows its place")
}

// unmark removes the marks, that of the main server last: then programs start, with a ledger on so many servers.
func (m *mover) unmark(ctx context.Context, servers int) error {
	for _, o := range m.opened {
		if o.Store == m.main {
			continue
		}
		_, err := o.pool.Exec(ctx, `DELETE FROM ledger_move WHERE move = $1::text::uuid`, m.mark.move)
		if err == nil {
			err = m.after("a mark is removed")
		}
		if err != nil {
			return fmt.Errorf("remove the mark at %s: %w", o.address(), err)
		}
	}
	err := pgx.BeginFunc(ctx, m.main.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE ledger_servers SET servers = $1 WHERE place = 0`, servers)
		if err == nil && servers == 0 {
			_, err = tx.Exec(ctx, `DELETE FROM ledger_servers`)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM ledger_move`)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove the mark at %s: %w", m.main.address(), err)
	}
	return m.after("the mark is removed")
}
