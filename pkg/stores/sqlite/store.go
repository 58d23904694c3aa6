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
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Store implements workflow.Store. One process at a time opens its file.
type Store struct {
	write *sql.DB // one connection: SQLite has one writer
	read  *sql.DB

	mu      sync.Mutex
	waiting map[chan struct{}]struct{}
}

var _ workflow.Store = (*Store)(nil)

//go:embed schema1.sql
var schema1 string

//go:embed schema2.sql
var schema2 string

//go:embed schema3.sql
var schema3 string

// schemas lead from one version of the file to the next.
var schemas = []string{schema1, schema2, schema3}

const (
	readers     = 4
	busyTimeout = 5 * time.Second
)

// Open opens the store in the file at path, and makes it where there is none.
//
// What is written is durable when a call returns, also where the power is cut: synchronous is FULL. With NORMAL the
// last commits could be gone then, though not after a kill. Commits are few: a handful an execution and minute.
func Open(path string) (_ *Store, err error) {
	s := &Store{waiting: map[chan struct{}]struct{}{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("control store %s: %w", path, err), s.Close())
		}
	}()
	if path, err = filepath.Abs(path); err != nil { // in a URL, the first part of another would be a host
		return nil, err
	}
	pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}, "_txlock": {"immediate"}}
	name := func(v url.Values) string {
		return (&url.URL{Scheme: "file", Path: path, RawQuery: v.Encode()}).String()
	}
	if s.write, err = sql.Open("sqlite", name(pragmas)); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	if err := s.migrate(context.Background()); err != nil {
		return nil, err
	}
	pragmas["_pragma"] = append(pragmas["_pragma"], "query_only(1)")
	pragmas.Del("_txlock")
	if s.read, err = sql.Open("sqlite", name(pragmas)); err != nil {
		return nil, err
	}
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	return s, nil
}

// migrate brings the file to the present version, in one transaction.
func (s *Store) migrate(ctx context.Context) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
			return err
		}
		if version > len(schemas) {
			return fmt.Errorf("a later version of the program wrote it (version %d, this one knows %d): update this program", version, len(schemas))
		}
		for _, schema := range schemas[version:] {
			if _, err := tx.ExecContext(ctx, schema); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, len(schemas)))
		return err
	})
}

// Close closes the file.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// tx runs do in a transaction that writes. An error of do undoes it.
func (s *Store) tx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // the error of do says what is wrong
		return err
	}
	return tx.Commit()
}

// change runs do in a transaction, and wakes who waits for events.
func (s *Store) change(ctx context.Context, do func(*sql.Tx) error) error {
	if err := s.tx(ctx, do); err != nil {
		return err
	}
	s.wake()
	return nil
}

func (s *Store) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.waiting {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Subscribe implements workflow.Store.
func (s *Store) Subscribe(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	s.waiting[c] = struct{}{}
	s.mu.Unlock()
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		delete(s.waiting, c)
		s.mu.Unlock()
	})
	return c
}
