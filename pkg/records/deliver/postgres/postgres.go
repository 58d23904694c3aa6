// Package postgres delivers rows into a table of a PostgreSQL database.
//
// A row is known by the output that delivered it, JOB/NODE, and its number: what comes again replaces itself. The table
// TABLE_outputs says whose each output is, how many rows it has, and whether these are all.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// Options say where rows go.
type Options struct {
	URL          string // postgres://USER:PASSWORD@HOST/DATABASE
	Table        string // NAME or SCHEMA.NAME; it is made where it is missing
	AllowPrivate bool
}

// TableName is what a table may be called.
var TableName = regexp.MustCompile(`^([a-z_][a-z0-9_]{0,40}\.)?[a-z_][a-z0-9_]{0,40}$`)

// Receiver implements deliver.Receiver. Its connection is made when it is needed, and again after a fault.
type Receiver struct {
	config *pgx.ConnConfig
	table  string // quoted
	of     string // the table of outputs, quoted
	output string
	conn   *pgx.Conn
}

var _ deliver.Receiver = (*Receiver)(nil)

// New makes a receiver. It asks nothing.
func New(opt Options) (*Receiver, error) {
	config, err := pgx.ParseConfig(opt.URL)
	if err != nil {
		return nil, errors.New("the address of the database is none: want postgres://USER:PASSWORD@HOST/DATABASE")
	}
	if !TableName.MatchString(opt.Table) {
		return nil, fmt.Errorf("table %q: want NAME or SCHEMA.NAME, of a-z, 0-9 and _", opt.Table)
	}
	config.ConnectTimeout = 15 * time.Second
	config.RuntimeParams["application_name"] = "whirlpool output"
	if !opt.AllowPrivate {
		d := &net.Dialer{ControlContext: netguard.Control}
		config.DialFunc = d.DialContext
	}
	return &Receiver{config: config, table: quoted(opt.Table), of: quoted(opt.Table + "_outputs")}, nil
}

func quoted(table string) string { return pgx.Identifier(strings.Split(table, ".")).Sanitize() }

// connected calls do with a connection. After an error the next call makes another one.
//
//nolint:contextcheck // a connection is closed when the context has ended, too
func (r *Receiver) connected(ctx context.Context, do func(*pgx.Conn) error) (err error) {
	if r.conn == nil {
		if r.conn, err = pgx.ConnectConfig(ctx, r.config); err != nil {
			return errors.New(told(err))
		}
	}
	err = do(r.conn)
	switch {
	case err == nil || errors.Is(err, deliver.ErrOther):
		return err
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), r.Close())
	}
	return errors.Join(errors.New(told(err)), r.Close())
}

// told is an error without what was to be stored.
func told(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return fmt.Sprintf("the database says %s: %s", pg.Code, pg.Message)
	}
	return err.Error()
}

// Close implements deliver.Receiver.
func (r *Receiver) Close() error {
	if r.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.conn.Close(ctx) // what is not committed comes again
	r.conn = nil
	return nil
}

// Same implements deliver.Receiver.
func (r *Receiver) Same() bool { return false }

// Begin implements deliver.Receiver.
func (r *Receiver) Begin(ctx context.Context, to *deliver.Remote, rows int64) (lost bool, err error) {
	r.output = to.Job + "/" + to.Node
	err = r.connected(ctx, func(c *pgx.Conn) error {
		if err := r.makeTables(ctx, c); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			var owner string
			err := tx.QueryRow(ctx, "SELECT owner FROM "+r.of+" WHERE output = $1 FOR UPDATE", r.output).Scan(&owner)
			if err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			if owner != "" && owner != to.Owner && !to.Replace {
				return deliver.ErrOther
			}
			if owner != to.Owner {
				lost, rows = rows > 0, 0
			}
			if _, err := tx.Exec(ctx, "DELETE FROM "+r.table+" WHERE output = $1 AND number > $2", r.output, rows); err != nil {
				return err
			}
			if rows > 0 {
				var there bool
				err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+r.table+" WHERE output = $1 AND number = $2)", r.output,
					rows).Scan(&there)
				if lost = !there; err != nil {
					return err
				}
			}
			_, err = tx.Exec(ctx, "INSERT INTO "+r.of+
				" (output, owner, rows, complete, updated) VALUES ($1, $2, $3, false, now())"+
				" ON CONFLICT (output) DO UPDATE SET owner = excluded.owner, rows = excluded.rows, complete = false, updated = "+
				"now()", r.output, to.Owner, rows)
			return err
		})
	})
	return lost, err
}

// makeTables makes the tables where they are missing. Two that do so at once: one of them may be told that there is
// such a table, and tries again.
func (r *Receiver) makeTables(ctx context.Context, c *pgx.Conn) error {
	var there bool
	err := c.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL", r.table,
		r.of).Scan(&there)
	if err != nil || there {
		return err
	}
	for range 3 {
		_, err = c.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+r.table+
			" (output text NOT NULL, number bigint NOT NULL, url text NOT NULL,"+
			" fetched_at timestamptz NOT NULL, record jsonb, fault text, PRIMARY KEY (output, number));"+
			" CREATE TABLE IF NOT EXISTS "+r.of+
			" (output text PRIMARY KEY, owner text NOT NULL, rows bigint NOT NULL, complete boolean NOT NULL,"+
			" updated timestamptz NOT NULL)")
		if err == nil {
			return nil
		}
	}
	return err
}

// End implements deliver.Receiver.
func (r *Receiver) End(ctx context.Context, rows int64) error {
	return r.connected(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, "UPDATE "+r.of+" SET rows = $2, complete = true, updated = now() WHERE output = $1", r.output,
			rows)
		return err
	})
}
