// Package controlsql is the control store in SQL: what workflow.Store promises, in statements that SQLite and
// PostgreSQL both understand. pkg/stores/sqlite and pkg/stores/controlpg open it, each with its schema and its Dialect.
package controlsql

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Dialect is in what databases differ.
type Dialect struct {
	// Bind turns ? and ?1 of a statement into what the driver takes; nil: it takes them.
	Bind func(statement string) string
	// Twice reports whether an error says that a unique value is there already.
	Twice func(error) bool
	// HasLabel and LabelIs are conditions on a column of JSON: it has a key (one ?), and a key with a value (two).
	HasLabel, LabelIs func(column string) string
	// Begin is executed first in each transaction that writes; empty: nothing is. It lets one after the other write, so
	// that the numbers of events grow in the order in which they are committed. Readers rely on that.
	Begin string
	// Changed is executed last in a transaction that stored events, so that others hear of it; empty: nothing is.
	Changed string
}

// Store implements workflow.Store.
type Store struct {
	write, read *DB
	dialect     *Dialect
	close       func() error

	mu      sync.Mutex
	waiting map[chan struct{}]struct{}
}

var _ workflow.Store = (*Store)(nil)

// New makes a store of connections that write and connections that read; they may be the same. Close calls close.
func New(write, read *sql.DB, d *Dialect, closing func() error) *Store {
	return &Store{write: &DB{write, d}, read: &DB{read, d}, dialect: d, close: closing,
		waiting: map[chan struct{}]struct{}{}}
}

// Close closes the store.
func (s *Store) Close() error { return s.close() }

// DB is connections whose statements are bound.
type DB struct {
	*sql.DB
	d *Dialect
}

// QueryContext is sql.DB's.
func (db *DB) QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	return db.DB.QueryContext(ctx, db.d.bind(statement), plain(args)...)
}

// QueryRowContext is sql.DB's.
func (db *DB) QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row {
	return db.DB.QueryRowContext(ctx, db.d.bind(statement), plain(args)...)
}

// ExecContext is sql.DB's.
func (db *DB) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return db.DB.ExecContext(ctx, db.d.bind(statement), plain(args)...)
}

// Tx is a transaction whose statements are bound.
type Tx struct {
	*sql.Tx
	d *Dialect
}

// QueryRowContext is sql.Tx's.
func (tx *Tx) QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row {
	return tx.Tx.QueryRowContext(ctx, tx.d.bind(statement), plain(args)...)
}

// ExecContext is sql.Tx's.
func (tx *Tx) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return tx.Tx.ExecContext(ctx, tx.d.bind(statement), plain(args)...)
}

func (d *Dialect) bind(statement string) string {
	if d.Bind == nil {
		return statement
	}
	return d.Bind(statement)
}

// tx runs do in a transaction that writes, with the entry of the audit log that the context has. An error of do undoes
// it.
func (s *Store) tx(ctx context.Context, do func(*Tx) error) (err error) {
	entry, settle := workflow.TakeAudit(ctx)
	defer func() { settle(err) }()
	if entry == nil {
		return s.transact(ctx, do)
	}
	return s.transact(ctx, func(tx *Tx) error {
		err := do(tx)
		if err == nil {
			err = addAudit(ctx, tx, entry)
		}
		return err
	})
}

func (s *Store) transact(ctx context.Context, do func(*Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if s.dialect.Begin != "" {
		_, err = tx.ExecContext(ctx, s.dialect.Begin)
	}
	if err == nil {
		err = do(&Tx{tx, s.dialect})
	}
	if err != nil {
		_ = tx.Rollback() // the error says what is wrong
		return err
	}
	return tx.Commit()
}

// change runs do in a transaction, and wakes who waits for events.
func (s *Store) change(ctx context.Context, do func(*Tx) error) error {
	err := s.tx(ctx, func(tx *Tx) error {
		err := do(tx)
		if err == nil && s.dialect.Changed != "" {
			_, err = tx.ExecContext(ctx, s.dialect.Changed)
		}
		return err
	})
	if err == nil {
		s.Wake()
	}
	return err
}

// Wake makes everybody who subscribed look for events.
func (s *Store) Wake() {
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

// CloseAll closes connections; nil ones are none.
func CloseAll(dbs ...*sql.DB) error {
	var errs []error
	for i, db := range dbs {
		if db != nil && (i == 0 || db != dbs[i-1]) {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
