// Package postgresbench measures the stores in PostgreSQL: how fast they claim URLs and find near-duplicates, and how
// that changes as the tables grow. It prints tables with the command that reproduces them.
//
// It never opens a database that holds a crawl: every measurement creates its own on the given server and drops it.
package postgresbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

const job = crawl.JobID("bench")

// scratch is a store in a database of its own.
type scratch struct {
	*postgres.Store
	conn   *pgx.Conn // beside the store
	number int32     // of the job
	out    io.Writer
	cfg    postgres.Config
}

// withScratch makes a database on the server, whose URL is that of a role that may, and drops it in the end.
func withScratch(ctx context.Context, server string, w io.Writer, use func(*scratch) error) (err error) {
	admin, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("benchmark: %w", err)
	}
	after := context.WithoutCancel(ctx)
	defer func() { err = errors.Join(err, admin.Close(after)) }()
	name := fmt.Sprintf("whirlpool_bench_%d_%d", os.Getpid(), time.Now().UnixMilli())
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return fmt.Errorf("benchmark: make a database: %w", err)
	}
	defer func() {
		_, dropped := admin.Exec(after, "DROP DATABASE "+name+" WITH (FORCE)")
		err = errors.Join(err, dropped)
	}()
	u, err := url.Parse(server)
	if err != nil {
		return errors.New("benchmark: the server's URL cannot be read")
	}
	u.Path = "/" + name
	return open(ctx, u.String(), w, use)
}

func open(ctx context.Context, url string, w io.Writer, use func(*scratch) error) error {
	cfg := postgres.Default()
	cfg.URL, cfg.Log, cfg.Timeout = url, slog.New(slog.DiscardHandler), time.Minute
	store, err := postgres.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer store.Close()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	s := &scratch{Store: store, conn: conn, out: w, cfg: cfg}
	j := crawl.DefaultJob()
	j.ID, j.Seeds = job, []string{"http://bench.test/"}
	if err := store.Jobs().Put(ctx, &j); err != nil {
		return err
	}
	info, err := store.Jobs().Info(ctx, job)
	if err != nil {
		return err
	}
	s.number = info.Number
	return use(s)
}

// run executes statements beside the store.
func (s *scratch) run(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := s.conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("benchmark: %.60q: %w", sql, err)
		}
	}
	return nil
}
