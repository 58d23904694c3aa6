package controlpg

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

//go:embed schema1.sql
var schema1 string

//go:embed schema2.sql
var schema2 string

//go:embed schema3.sql
var schema3 string

// schemas lead from one version of the tables to the next.
var schemas = []string{schema1, schema2, schema3}

// migrateLock makes programs that start together migrate one after the other: WPCM in ASCII.
const migrateLock = 0x5750_434d

// migrate brings the tables to the present version, in one transaction. Tables of a later version are left as they are:
// neighbouring versions understand each other.
func migrate(ctx context.Context, db *sql.DB, schema string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrateLock)); err != nil {
		return fmt.Errorf("wait for the program that migrates: %w", err)
	}
	for _, statement := range []string{`CREATE SCHEMA IF NOT EXISTS ` + pgx.Identifier{schema}.Sanitize(),
		`CREATE TABLE IF NOT EXISTS version (number BIGINT NOT NULL)`} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	var version int
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) FROM version`).Scan(&version); err != nil {
		return err
	}
	if version >= len(schemas) {
		return tx.Commit()
	}
	for _, text := range schemas[version:] {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO version (number) VALUES ($1)`, len(schemas)); err != nil {
		return err
	}
	return tx.Commit()
}
