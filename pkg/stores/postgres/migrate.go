package postgres

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// SchemaDigest is a digest of the statements that make the schema, 16 lower-case hexadecimal digits: builds that have
// the same make databases that are alike.
func SchemaDigest() string {
	h := sha256.New()
	files, err := fs.Glob(migrations, "migrations/*.sql")
	for _, name := range files {
		text, readErr := migrations.ReadFile(name)
		h.Write(text)
		err = errors.Join(err, readErr)
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// migrationLock is the advisory lock of whoever migrates: WHIRLPOL in ASCII.
const migrationLock = 0x5748_4952_4c50_4f4c

// migrate migrates the schema, where it is older than this program. Its lock makes programs that start together wait
// for the one that migrates. The lock of goose polls by the second, which would make each start take seconds.
func migrate(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) (err error) {
	cc := pool.Config().ConnConfig
	defer func() {
		if err != nil {
			err = fmt.Errorf("schema of %s: %w", address(cc), loginError(cc, err))
		}
	}()
	// Nearly always there is nothing to do. A connection costs the server some 30 ms of CPU time, so one that the store
	// needs anyhow is asked.
	if done, err := isCurrent(ctx, pool, log); done || err != nil {
		return err
	}
	db := stdlib.OpenDB(*cc)
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := newProvider(db, log)
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	unlock, err := lockByPolling(ctx, conn, migrationLock)
	if err != nil {
		return fmt.Errorf("wait for the program that migrates: %w", err)
	}
	defer unlock()
	_, err = provider.Up(ctx)
	return err
}

func newProvider(db *sql.DB, log *slog.Logger) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSlog(log),
		goose.WithGoMigrations(openIndexMigration(log)), goose.WithDisableGlobalRegistry(true))
}

// isCurrent reports whether the schema is that of this program or a later one.
func isCurrent(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) (done bool, err error) {
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := newProvider(db, log)
	if err != nil {
		return false, err
	}
	sources := p.ListSources()
	var version sql.NullInt64
	err = db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&version)
	if answer := new(pgconn.PgError); errors.As(err, &answer) && answer.Code == "42P01" {
		return false, nil
	}
	return version.Int64 >= sources[len(sources)-1].Version, err
}

// address names the database for people, without password.
func address(cc *pgx.ConnConfig) string {
	return "postgres://" + net.JoinHostPort(cc.Host, strconv.Itoa(int(cc.Port))) + "/" + cc.Database
}
