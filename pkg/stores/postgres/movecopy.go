package postgres

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/jackc/pgx/v5"
)

// moveBatch is how many rows are copied in a transaction, and deleted by a statement. They pass through memory one by
// one.
const moveBatch = 10_000

// reached is how far a table was copied from a segment.
type reached struct {
	job  int32
	host *int64  // nil: all rows of the job are copied
	hash *string // as host; nil in a table without it
	done bool
}

const (
	reachedSQL    = `SELECT job, host, hash::text, done FROM ledger_moved WHERE tbl = $1 AND first = $2`
	reachSQL      = `UPDATE ledger_moved SET job = $3, host = $4, hash = $5::text::uuid, done = $6 WHERE tbl = $1 AND first = $2`
	beginPartsSQL = `INSERT INTO ledger_moved (tbl, first, job) SELECT $1, first, $3 FROM unnest($2::bigint[]) AS first`
	columnsSQL    = `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`
	// moved is the condition that a host is in one of the segments whose edges the first parameter has.
	moved = `width_bucket(%s, $1::bigint[]) & 1 = 1`
)

// keyOfTable is the columns after the job in a table's key.
func keyOfTable(table string) string {
	if placings[table] == byHost {
		return "host"
	}
	return "host, hash"
}

// copyTable copies all that a database gets of a table.
func (m *mover) copyTable(ctx context.Context, table string, at *Store) error {
	segments := m.incoming(at)
	if err := m.beginTable(ctx, table, at, segments); err != nil {
		return err
	}
	var columns string
	if err := at.pool.QueryRow(ctx, columnsSQL, table).Scan(&columns); err != nil {
		return err
	}
	for i := range segments {
		var err error
		if placings[table] == inNotes {
			err = m.copyNotes(ctx, table, &segments[i])
		} else {
			err = m.copySegment(ctx, table, columns, &segments[i])
		}
		if err != nil {
			return fmt.Errorf("from %s: %w", segments[i].from.address(), err)
		}
	}
	return nil
}

// beginTable removes what lies in the way, before the first row is copied. A server under the old list may have rows of
// hosts that belong to others, which nobody reads: a program that was started before the list was made wrote them.
func (m *mover) beginTable(ctx context.Context, table string, at *Store, segments []segment) error {
	err := pgx.BeginFunc(ctx, at.pool, func(tx pgx.Tx) error {
		var begun bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM ledger_moved WHERE tbl = $1)`, table).
			Scan(&begun); err != nil || begun {
			return err
		}
		if err := removeRows(ctx, tx, table, segments); err != nil {
			return err
		}
		var firsts []int64
		for _, g := range segments {
			firsts = append(firsts, g.first)
		}
		_, err := tx.Exec(ctx, beginPartsSQL, table, firsts, math.MinInt32)
		return err
	})
	if err != nil {
		return err
	}
	return m.after("a table is begun")
}

// removeRows removes all rows of some segments with one pass over the table.
func removeRows(ctx context.Context, tx pgx.Tx, table string, segments []segment) error {
	if _, err := tx.Exec(ctx, reportSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	edges := edgesOfSegments(segments)
	if placings[table] != inNotes {
		_, err := tx.Exec(ctx, fmt.Sprintf(`DELETE FROM %s WHERE `+moved, table, "host"), edges)
		return err
	}
	some := fmt.Sprintf(moved, "a.host")
	_, err := tx.Exec(ctx, `UPDATE `+table+` f SET (hosts, hashes) = (
			SELECT coalesce(array_agg(a.host), '{}'), coalesce(array_agg(a.hash), '{}') FROM unnest(f.hosts, f.hashes) AS a (host, hash)
			WHERE NOT (`+some+`))
		WHERE EXISTS (SELECT FROM unnest(f.hosts) AS a (host) WHERE `+some+`)`, edges)
	if err == nil {
		_, err = tx.Exec(ctx, `DELETE FROM `+table+` WHERE cardinality(hosts) = 0`)
	}
	return err
}

// edgesOfSegments is edgesOf for segments.
func edgesOfSegments(segments []segment) []int64 {
	edges := []int64{}
	for _, g := range segments {
		if edges = append(edges, g.first); g.last < math.MaxInt64 {
			edges = append(edges, g.last+1)
		}
	}
	return edges
}

// copySegment copies what a table has of a segment, job by job, in the order of the keys.
func (m *mover) copySegment(ctx context.Context, table, columns string, g *segment) error {
	var r reached
	err := g.to.pool.QueryRow(ctx, reachedSQL, table, g.first).Scan(&r.job, &r.host, &r.hash, &r.done)
	for err == nil && !r.done {
		if r.host == nil {
			if r.job, r.done, err = nextJob(ctx, g.from, table, r.job); err != nil {
				return err
			}
		}
		if r.done {
			_, err = g.to.pool.Exec(ctx, reachSQL, table, g.first, r.job, nil, nil, true)
		} else {
			err = m.copyBatch(ctx, table, columns, g, &r)
		}
		if err == nil {
			err = m.after("rows are copied")
		}
	}
	return err
}

// nextJob returns the number of the next job that has rows in a table, also of one that nobody knows any more.
func nextJob(ctx context.Context, at *Store, table string, after int32) (job int32, none bool, err error) {
	var next *int32
	if err = at.pool.QueryRow(ctx, `SELECT min(job) FROM `+table+` WHERE job > $1`, after).Scan(&next); err != nil ||
		next == nil {
		return after, true, err
	}
	return *next, false, nil
}

// copyBatch copies the next rows of a job, and notes how far that is.
func (m *mover) copyBatch(ctx context.Context, table, columns string, g *segment, r *reached) error {
	key := keyOfTable(table)
	from, first := g.first, ""
	if r.host != nil {
		from, first = *r.host, fmt.Sprintf(" AND %s > %d", key, *r.host)
		if r.hash != nil {
			first = fmt.Sprintf(" AND (%s) > (%d, '%s')", key, *r.host, *r.hash)
		}
	}
	what := fmt.Sprintf("SELECT %s FROM %s WHERE job = %d AND host BETWEEN %d AND %d%s ORDER BY %s LIMIT %d", columns,
		table, r.job, from, g.last, first, key, m.rows)
	next := *r
	var rows int64
	err := pgx.BeginFunc(ctx, g.to.pool, func(tx pgx.Tx) (err error) {
		if rows, err = pour(ctx, g.from, tx, walkSettings, what, table, columns); err != nil {
			return err
		}
		if next.host, next.hash = nil, nil; rows == int64(m.rows) {
			err = lastKey(ctx, tx, table, g, &next)
		}
		if err == nil {
			_, err = tx.Exec(ctx, reachSQL, table, g.first, next.job, next.host, next.hash, false)
		}
		return err
	})
	if err != nil {
		return err
	}
	*r = next
	m.count(table, rows)
	return nil
}

// lastKey is up to where a batch has come.
func lastKey(ctx context.Context, tx pgx.Tx, table string, g *segment, r *reached) error {
	hash, order := "hash::text", "host DESC, hash DESC"
	if placings[table] == byHost {
		hash, order = "NULL::text", "host DESC"
	}
	if _, err := tx.Exec(ctx, walkSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	sql := fmt.Sprintf(`SELECT host, %s FROM %s WHERE job = $1 AND host BETWEEN $2 AND $3 ORDER BY %s LIMIT 1`, hash, table,
		order)
	return tx.QueryRow(ctx, sql, r.job, g.first, g.last).Scan(&r.host, &r.hash)
}

// copyNotes copies what rows with several hosts have of a segment, all in one transaction: such rows have no key by
// which to go on.
func (m *mover) copyNotes(ctx context.Context, table string, g *segment) error {
	var r reached
	err := g.to.pool.QueryRow(ctx, reachedSQL, table, g.first).Scan(&r.job, &r.host, &r.hash, &r.done)
	if err != nil || r.done {
		return err
	}
	what := fmt.Sprintf(`SELECT f.job, f.noted, p.hosts, p.hashes FROM %s f CROSS JOIN LATERAL (
			SELECT array_agg(a.host) AS hosts, array_agg(a.hash) AS hashes FROM unnest(f.hosts, f.hashes) AS a (host, hash)
			WHERE a.host BETWEEN %d AND %d) p
		WHERE p.hosts IS NOT NULL`, table, g.first, g.last)
	var rows int64
	err = pgx.BeginFunc(ctx, g.to.pool, func(tx pgx.Tx) (err error) {
		rows, err = pour(ctx, g.from, tx, reportSettings, what, table, "job, noted, hosts, hashes")
		if err == nil {
			_, err = tx.Exec(ctx, reachSQL, table, g.first, r.job, nil, nil, true)
		}
		return err
	})
	if err != nil {
		return err
	}
	m.count(table, rows)
	return m.after("notes are copied")
}

// pour sends the rows of a query on one server into a table of another, in a transaction there.
func pour(ctx context.Context, from *Store, to pgx.Tx, settings, query, table, columns string) (rows int64, err error) {
	err = pgx.BeginTxFunc(ctx, from.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, settings, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		r, w := io.Pipe()
		var reading error
		var reader sync.WaitGroup
		reader.Go(func() {
			_, reading = tx.Conn().PgConn().CopyTo(ctx, w, `COPY (`+query+`) TO STDOUT (FORMAT binary)`)
			_ = w.CloseWithError(reading) // it always succeeds
		})
		tag, writing := to.Conn().PgConn().CopyFrom(ctx, r, `COPY `+table+` (`+columns+`) FROM STDIN (FORMAT binary)`)
		_ = r.CloseWithError(writing) // likewise; the reader ends
		reader.Wait()
		if rows = tag.RowsAffected(); reading != nil {
			return reading
		}
		return writing
	})
	return rows, err
}
