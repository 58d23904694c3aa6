//go:build unix

package workflow_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/controlpg"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/sqlite"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// killStore is a control store that processes have which are killed.
type killStore interface {
	workflow.Store
	Close() error
}

// onPostgres names the file that says which schema of PostgreSQL a directory's store is; without it the store is a file
// of SQLite.
const onPostgres = "postgres.json"

// openKilled opens the store of a directory.
func openKilled(dir string) (killStore, error) {
	cfg, found, err := readKilled(dir)
	if err != nil {
		return nil, err
	}
	if !found {
		return sqlite.Open(filepath.Join(dir, "control.db"))
	}
	if err := awaitNobody(cfg); err != nil {
		return nil, err
	}
	return controlpg.Open(bg, cfg)
}

func readKilled(dir string) (cfg controlpg.Config, found bool, err error) {
	data, err := os.ReadFile(filepath.Join(dir, onPostgres))
	if errors.Is(err, os.ErrNotExist) {
		return cfg, false, nil
	}
	return cfg, true, errors.Join(err, json.Unmarshal(data, &cfg))
}

// awaitNobody waits until the server has seen that the process before was killed: it may still be doing what that asked
// for.
func awaitNobody(cfg controlpg.Config) error {
	ctx, cancel := context.WithTimeout(bg, 5*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, cfg.URL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(bg) }()
	for n := 1; n > 0; {
		if err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1",
			cfg.Name).Scan(&n); err != nil {
			return err
		}
	}
	return nil
}

// usePostgres makes the store of a directory a schema of PostgreSQL, which goes when the test ends.
func usePostgres(t *testing.T, dir string) {
	t.Helper()
	name := "killed_" + strings.ToLower(rand.Text()[:12])
	cfg := controlpg.Config{URL: servicetest.Postgres(t), Name: name, Schema: name, MaxConns: 4}
	data, err := json.Marshal(cfg)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, onPostgres), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn, err := pgx.Connect(bg, cfg.URL)
		if err == nil {
			_, err = conn.Exec(bg, "DROP SCHEMA IF EXISTS "+name+" CASCADE")
			err = errors.Join(err, conn.Close(bg))
		}
		if err != nil {
			t.Error(err)
		}
	})
}
