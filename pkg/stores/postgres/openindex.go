package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pressly/goose/v3"
)

const (
	// urlsPartitions is how many partitions the table of URLs has.
	urlsPartitions = 16
	// smallLedger is up to how many octets the index is built at once, while nobody can write: a second's work.
	smallLedger = 32 << 20
	// indexLock is the advisory lock of the session that builds the index. It is another than migrationLock, and is held
	// by the session that builds: if its program is killed, the server goes on until that partition is done, and only
	// then lets the next program look. It is another than jobLock, so that jobs begin while the index is built.
	indexLock = migrationLock + 2
)

// openIndexMigration builds the index of open URLs: of their hosts, because virtual nodes are ranges of these. It may
// take long in a large ledger. So it is built partition by partition, while programs write; if it is interrupted, it
// goes on with the next start of a program.
func openIndexMigration(log *slog.Logger) *goose.Migration {
	return goose.NewGoMigration(24,
		&goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error {
			return buildOpenIndex(ctx, db, smallLedger, log)
		}},
		&goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, `DROP INDEX urls_open`)
			return err
		}})
}

func buildOpenIndex(ctx context.Context, db *sql.DB, small int64, log *slog.Logger) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	unlock, err := lockByPolling(ctx, conn, indexLock)
	if err != nil {
		return fmt.Errorf("wait for the index of open URLs: %w", err)
	}
	defer unlock()
	var octets int64
	var begun bool
	const state = `SELECT coalesce(sum(pg_relation_size(inhrelid)), 0), to_regclass('urls_open') IS NOT NULL FROM pg_inherits WHERE inhparent = 'urls'::regclass`
	if err := conn.QueryRowContext(ctx, state).Scan(&octets, &begun); err != nil {
		return err
	}
	if !begun && octets <= small {
		_, err := conn.ExecContext(ctx, `CREATE INDEX urls_open ON urls (host) WHERE state = 1`)
		return err
	}
	log.Info("the index of open URLs is built, while programs may write; a start that is interrupted continues with the "+
		"next", "octets", octets)
	if _, err := conn.ExecContext(ctx,
		`CREATE INDEX IF NOT EXISTS urls_open ON ONLY urls (host) WHERE state = 1`); err != nil {
		return err
	}
	parts, err := openIndexParts(ctx, conn)
	for i, p := range parts {
		if err == nil {
			err = p.build(ctx, conn, log.With("partition", i+1, "of", len(parts)))
		}
	}
	return err
}

// openIndexPart is a partition of the URLs and what there is of its index.
type openIndexPart struct {
	table                  string
	there, valid, attached bool
}

const openIndexPartsSQL = `
	SELECT c.relname, i.indexrelid IS NOT NULL, coalesce(i.indisvalid, false), EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid)
	FROM pg_inherits p JOIN pg_class c ON c.oid = p.inhrelid LEFT JOIN pg_index i ON i.indexrelid = to_regclass(c.relname || '_open')
	WHERE p.inhparent = 'urls'::regclass ORDER BY c.relname`

func openIndexParts(ctx context.Context, conn *sql.Conn) (parts []openIndexPart, err error) {
	rows, err := conn.QueryContext(ctx, openIndexPartsSQL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var p openIndexPart
		if err := rows.Scan(&p.table, &p.there, &p.valid, &p.attached); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, rows.Err()
}

// build builds what is missing. An index that was left half built is not valid, and is made anew.
func (p *openIndexPart) build(ctx context.Context, conn *sql.Conn, log *slog.Logger) error {
	start := time.Now()
	var statements []string
	if p.there && !p.valid {
		statements = append(statements, fmt.Sprintf(`DROP INDEX CONCURRENTLY %s_open`, p.table))
	}
	if !p.valid {
		statements = append(statements, fmt.Sprintf(`CREATE INDEX CONCURRENTLY %s_open ON %s (host) WHERE state = 1`, p.table,
			p.table))
	}
	if !p.attached {
		statements = append(statements, fmt.Sprintf(`ALTER INDEX urls_open ATTACH PARTITION %s_open`, p.table))
	}
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("index of open URLs, %s: %w", p.table, err)
		}
	}
	log.Info("a part of the index of open URLs is there", "took", time.Since(start), "built", !p.valid)
	return nil
}

// lockPoll is how often a lock is asked for.
const lockPoll = 50 * time.Millisecond

// lockByPolling takes an advisory lock of the session, and returns what gives it back. It does not wait in the server:
// a statement that waits there is one that the building of an index waits for, and the two would wait for each other.
func lockByPolling(ctx context.Context, conn *sql.Conn, key int64) (unlock func(), err error) {
	for {
		var mine bool
		if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, key).Scan(&mine); err != nil {
			return nil, err
		}
		if mine {
			return func() { // without it the lock ends with the session
				_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, key)
			}, nil
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
