package postgres_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
)

func TestProgramsThatStartAtOnceMigrateOnce(t *testing.T) {
	url := emptyDatabase(t)
	const programs = 12
	var wg sync.WaitGroup
	for range programs {
		wg.Go(func() {
			cfg := config(url)
			cfg.MaxConns = 2
			s, err := postgres.Open(context.Background(), cfg)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			_, err = s.URLs().Claim(context.Background(), "job", id("x"), storetest.Tasks("job", manyURLs(t, 0, 3, 1)...))
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	const versions = `SELECT count(*) - count(DISTINCT version_id) FROM goose_db_version`
	if twice := ask[int](t, url, versions); twice != 0 {
		t.Errorf("%d migrations were applied twice", twice)
	}
	if n := ask[int](t, url, `SELECT count(*) FROM urls`); n != 3 {
		t.Errorf("%d URLs, want 3", n)
	}
}

func TestOpenAgainKeepsWhatIsThere(t *testing.T) {
	url := newDatabase(t)
	u := manyURLs(t, 0, 5, 2)
	_, err := openAt(t, url).URLs().Claim(context.Background(), "job", id("x"), storetest.Tasks("job", u...))
	check(t, err)
	got, err := openAt(t, url).URLs().Claim(context.Background(), "job", id("x"), storetest.Tasks("job", u...))
	check(t, err)
	for i := range got {
		if got[i] != crawl.Repeat {
			t.Errorf("%s: got %v, want a repeat", u[i], got[i])
		}
	}
}

// A server that does not answer must not hold a stage up: it gets an error soon and tries again.
func TestOpenFailsSoonWhereNobodyAnswers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer silent.Close()
	for _, addr := range []string{silent.Addr().String(), "127.0.0.1:1"} {
		start := time.Now()
		s, err := postgres.Open(context.Background(), config("postgres://u:secret@"+addr+"/db?sslmode=disable"))
		if err == nil {
			s.Close()
			t.Fatalf("%s: opened", addr)
		}
		if took := time.Since(start); took > time.Minute || crawl.IsPermanent(err) {
			t.Errorf("%s: after %v: %v", addr, took, err)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, spoil := range map[string]func(*postgres.Config){
		"no URL":         func(c *postgres.Config) { c.URL = "" },
		"bad URL":        func(c *postgres.Config) { c.URL = "postgres://u:secret@host:port/db" },
		"no connections": func(c *postgres.Config) { c.MaxConns = 0 },
		"no time":        func(c *postgres.Config) { c.Timeout = 0 },
		"negative time":  func(c *postgres.Config) { c.JobExpiry = -1 },
	} {
		c := config("postgres://u:secret@127.0.0.1:1/db")
		check(t, c.Validate())
		if spoil(&c); c.Validate() == nil {
			t.Errorf("%s: taken", name)
		} else if msg := c.Validate().Error(); errors.Is(c.Validate(), context.Canceled) || contains(msg, "secret") {
			t.Errorf("%s: the message %q shows the password", name, msg)
		}
	}
}
