package controlpg_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/controlpg"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// config is a store in a schema of the test's own.
func config(t testing.TB) controlpg.Config {
	t.Helper()
	cfg := controlpg.Config{URL: servicetest.Postgres(t), Schema: "control_" + strings.ToLower(rand.Text()[:12]),
		MaxConns: 4}
	t.Cleanup(func() {
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, cfg.URL)
		if err == nil {
			_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+cfg.Schema+" CASCADE")
		}
		if err == nil {
			err = conn.Close(ctx)
		}
		if err != nil {
			t.Error(err)
		}
	})
	return cfg
}

func open(t testing.TB, cfg controlpg.Config) *controlpg.Store {
	t.Helper()
	s, err := controlpg.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestControlStore(t *testing.T) {
	storetest.ControlStore(t, func(t *testing.T) workflow.Store { return open(t, config(t)) })
}
