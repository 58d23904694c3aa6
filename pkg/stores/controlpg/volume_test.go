package controlpg_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

// Every list answers at once, also where there is very much: see storetest.ControlVolumeOf.
func TestListsOfMuchAreFast(t *testing.T) {
	cfg := config(t)
	s := open(t, cfg)
	execute(t, cfg.URL, append(append([]string{"SET search_path = " + cfg.Schema},
		storetest.ControlVolumeOf(t).Statements()...),
		"VACUUM ANALYZE workflows", "VACUUM ANALYZE executions", "VACUUM ANALYZE events", "VACUUM ANALYZE labels")...)
	storetest.ControlListsAreFast(t, s)
}

// execute executes statements on a connection of their own.
func execute(t *testing.T, url string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	harness.Check(t, err)
	for _, statement := range statements {
		_, err := conn.Exec(ctx, statement)
		harness.Check(t, err)
	}
	harness.Check(t, conn.Close(ctx))
}
