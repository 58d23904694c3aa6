// Package sqlite is the control store of one process: a file of SQLite, by a driver without C.
package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/controlsql"
)

// Store implements workflow.Store. One process at a time opens its file.
type Store = controlsql.Store

//go:embed schema1.sql
var schema1 string

//go:embed schema2.sql
var schema2 string

//go:embed schema3.sql
var schema3 string

//go:embed schema4.sql
var schema4 string

//go:embed schema5.sql
var schema5 string

//go:embed schema6.sql
var schema6 string

// schemas lead from one version of the file to the next.
var schemas = []string{schema1, schema2, schema3, schema4, schema5, schema6}

const (
	readers     = 4
	busyTimeout = 5 * time.Second
)

// dialect is SQLite's. It has one writer anyway.
var dialect = controlsql.Dialect{
	Twice: func(err error) bool {
		e := (*sqlite.Error)(nil)
		return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
	},
	HasLabel: func(column string) string {
		return `EXISTS (SELECT 1 FROM json_each(` + column + `) j WHERE j.key = ?)`
	},
	LabelIs: func(column string) string {
		return `EXISTS (SELECT 1 FROM json_each(` + column + `) j WHERE j.key = ? AND j.value = ?)`
	},
}

// Open opens the store in the file at path, and makes it where there is none.
//
// What is written is durable when a call returns, also where the power is cut: synchronous is FULL. With NORMAL the
// last commits could be gone then, though not after a kill. Commits are few: a handful an execution and minute.
func Open(path string) (_ *Store, err error) {
	var write, read *sql.DB
	closing := func() error { return controlsql.CloseAll(read, write) }
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("control store %s: %w", path, err), closing())
		}
	}()
	if path, err = filepath.Abs(path); err != nil { // in a URL, the first part of another would be a host
		return nil, err
	}
	inURL := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && inURL[0] != '/' { // C:/ would be a host, too
		inURL = "/" + inURL
	}
	pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}, "_txlock": {"immediate"}}
	name := func(v url.Values) string {
		return (&url.URL{Scheme: "file", Path: inURL, RawQuery: v.Encode()}).String()
	}
	if write, err = sql.Open("sqlite", name(pragmas)); err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	if err := migrate(context.Background(), write); err != nil {
		return nil, err
	}
	pragmas["_pragma"] = append(pragmas["_pragma"], "query_only(1)")
	pragmas.Del("_txlock")
	if read, err = sql.Open("sqlite", name(pragmas)); err != nil {
		return nil, err
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	return controlsql.New(write, read, &dialect, closing), nil
}

// migrate brings the file to the present version, in one transaction.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if version > len(schemas) {
		return fmt.Errorf("a later version of the program wrote it (version %d, this one knows %d): update this program",
			version, len(schemas))
	}
	for _, schema := range schemas[version:] {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, len(schemas))); err != nil {
		return err
	}
	return tx.Commit()
}
