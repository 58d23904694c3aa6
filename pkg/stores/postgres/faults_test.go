package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
)

// A server that takes nothing, whatever the reason, is away: no message is buried for it. One that does not know a
// table is not.
func TestAServerThatTakesNothingIsAway(t *testing.T) {
	const cut = `; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%[1]s' AND pid <> pg_backend_pid()`
	for name, tt := range map[string]struct {
		sql    string // sent to another database; %[1]s is the store's
		locked bool
		here   string // sent to the store's
		away   bool
	}{
		"it only reads, as a standby": {sql: `ALTER DATABASE %[1]s SET default_transaction_read_only = on` + cut, away: true},
		"it takes no connection":      {sql: `ALTER DATABASE %[1]s ALLOW_CONNECTIONS false` + cut, away: true},
		"a table is locked":           {locked: true, away: true},
		"a table is missing":          {here: `DROP TABLE jobs CASCADE`},
	} {
		t.Run(name, func(t *testing.T) {
			url, ctx := makeDatabase(t), context.Background()
			cfg := config(url)
			cfg.Ledger, cfg.Timeout, cfg.JobExpiry = nil, 500*time.Millisecond, time.Nanosecond
			s, err := postgres.Open(ctx, cfg)
			check(t, err)
			defer s.Close()
			check(t, s.Jobs().Put(ctx, aJob("away")))
			conn, err := pgx.Connect(ctx, url)
			check(t, err)
			defer conn.Close(ctx)
			switch {
			case tt.locked:
				_, err = conn.Exec(ctx, `BEGIN; LOCK TABLE jobs`)
				check(t, err)
			case tt.here != "":
				execute(t, url, tt.here)
			default:
				execute(t, sharedDatabase(t), fmt.Sprintf(tt.sql, conn.Config().Database))
			}
			j := aJob("away")
			j.MaxPages = 77
			if err := s.Jobs().Put(ctx, j); err == nil || bus.IsAway(err) != tt.away {
				t.Errorf("error %v: away %t, want %t", err, bus.IsAway(err), tt.away)
			}
		})
	}
}
