// Package databasetest makes the databases of tests in PostgreSQL.
//
// To make the schema takes the server half a second of CPU time, several times what a copy of it takes. So it is made
// once on a server, in a template.
package databasetest

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// New makes a database with the schema of this build, and returns its URL. It is dropped when the test ends. server is
// the URL of a role that may create databases.
func New(t testing.TB, server, name string) string {
	t.Helper()
	address, err := Make(t.Context(), server, name)
	harness.Check(t, err)
	t.Cleanup(func() { harness.Check(t, Drop(context.Background(), server, name)) })
	return address
}

// Make is New for a database that the caller drops.
func Make(ctx context.Context, server, name string) (address string, err error) {
	return on(ctx, server, name, func(conn *pgx.Conn) error {
		template, err := template(ctx, conn, server)
		if err != nil {
			return err
		}
		return create(ctx, conn, name, template)
	})
}

// MakeEmpty is Make without the schema: the first program that opens the database makes it.
func MakeEmpty(ctx context.Context, server, name string) (address string, err error) {
	return on(ctx, server, name, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
		return err
	})
}

// Drop ends the connections to databases, and drops them. One that is not there is no error.
func Drop(ctx context.Context, server string, names ...string) error {
	_, err := on(ctx, server, "", func(conn *pgx.Conn) (err error) {
		for _, name := range names {
			_, dropped := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
			err = errors.Join(err, dropped)
		}
		return err
	})
	return err
}

// on connects with the server for as long as act takes, and returns the URL of a database there.
func on(ctx context.Context, server, name string, act func(*pgx.Conn) error) (address string, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", errors.New("the URL of the tests' PostgreSQL cannot be read") // the error would show its password
	}
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	u.Path = "/" + name
	return u.String(), act(conn)
}

// making is the advisory lock of whoever makes the template.
const making = 0x7465_6d70_6c61_7465

// template returns the name of a database that has the schema of this build and that nobody connects to, which it makes
// where there is none.
func template(ctx context.Context, conn *pgx.Conn, server string) (name string, err error) {
	name = "whirlpool_template_" + postgres.SchemaDigest() // the server may be one that stays, and serve other builds
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", making); err != nil {
		return "", err
	}
	defer func() {
		_, unlocked := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", making)
		err = errors.Join(err, unlocked)
	}()
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there); there ||
		err != nil {
		return name, err
	}
	half := name + "_half" // of somebody who was killed here, if it is there
	if err := Drop(ctx, server, half); err != nil {
		return "", err
	}
	address, err := MakeEmpty(ctx, server, half)
	if err != nil {
		return "", err
	}
	cfg := postgres.Default()
	cfg.URL, cfg.Log = address, slog.New(slog.DiscardHandler)
	store, err := postgres.Open(ctx, cfg)
	if err != nil {
		return "", err
	}
	store.Close()
	_, err = conn.Exec(ctx, "ALTER DATABASE "+half+" RENAME TO "+name)
	return name, err
}

// create copies the template's files. A server of version 15 or later would write them through its log, which takes it
// twice the time.
func create(ctx context.Context, conn *pgx.Conn, name, template string) error {
	copied := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize() + " TEMPLATE " + template
	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return err
	}
	if version >= 150_000 {
		copied += " STRATEGY = FILE_COPY"
	}
	_, err := conn.Exec(ctx, copied)
	return err
}
