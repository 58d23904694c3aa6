package databasetest_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/databasetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// Databases that are made at once, also while there is no template yet, have what a program would have made.
func TestCopiesAreWhatAProgramMakes(t *testing.T) {
	server := servicetest.Postgres(t)
	prefix := "copy_" + strings.ToLower(rand.Text()[:8])
	name := func(i int) string { return prefix + string(rune('a'+i)) }
	copies := make([]string, 4)
	names := []string{name(len(copies))}
	var making errgroup.Group
	for i := range copies {
		names = append(names, name(i))
		making.Go(func() (err error) {
			copies[i], err = databasetest.Make(t.Context(), server, name(i))
			return err
		})
	}
	t.Cleanup(func() { harness.Check(t, databasetest.Drop(context.Background(), server, names...)) })
	harness.Check(t, making.Wait())
	made, err := databasetest.MakeEmpty(t.Context(), server, name(len(copies)))
	harness.Check(t, err)
	if n := len(columns(t, made)); n != 0 {
		t.Errorf("an empty database has %d columns", n)
	}
	cfg := postgres.Default()
	cfg.URL, cfg.Log = made, slog.New(slog.DiscardHandler)
	store, err := postgres.Open(t.Context(), cfg)
	harness.Check(t, err)
	store.Close()
	want := columns(t, made)
	if len(want) < 100 {
		t.Errorf("a program made %d columns: the test shows nothing", len(want))
	}
	for _, address := range copies {
		if got := columns(t, address); !slices.Equal(got, want) {
			t.Errorf("a copy has %d columns, and what a program made has %d", len(got), len(want))
		}
	}
}

// columns lists those of a database's tables and indexes.
func columns(t *testing.T, address string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	harness.Check(t, err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `SELECT c.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = 'public'::regnamespace ORDER BY 1`)
	harness.Check(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	harness.Check(t, err)
	return list
}
