// Package rabbittest gives a test vhosts of its own on the real broker, so that suites run side by side.
package rabbittest

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// Config makes two vhosts with a user each, which are removed when the test ends, and returns how to reach them.
// Options change the configuration before the vhosts are made. The log is discarded unless an option sets one.
func Config(t testing.TB, options ...func(*rabbit.Config)) rabbit.Config {
	t.Helper()
	broker, admin := servicetest.AMQP(t), servicetest.RabbitMQAPI(t)
	suffix := "_" + strings.ToLower(rand.Text()[:10])
	cfg := rabbit.Default()
	cfg.Log = slog.New(slog.DiscardHandler)
	cfg.Subsystems = address(t, broker, rabbit.SubsystemsUser+suffix, rabbit.SubsystemsVhost+suffix)
	cfg.Frontier = address(t, broker, rabbit.FrontierUser+suffix, rabbit.FrontierVhost+suffix)
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatalf("management address: %v", err)
	}
	u.User = nil
	cfg.Management = u.String()
	for _, o := range options {
		o(&cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := rabbit.Setup(ctx, admin, cfg); err != nil {
		t.Fatalf("set up vhosts for the test: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		if err := rabbit.Teardown(ctx, admin, cfg); err != nil {
			t.Errorf("remove the vhosts of the test: %v", err)
		}
	})
	return cfg
}

func address(t testing.TB, broker, user, vhost string) string {
	u, err := url.Parse(broker)
	if err != nil {
		t.Fatal("the broker's address is no URL")
	}
	u.User, u.Path = url.UserPassword(user, rand.Text()), "/"+vhost
	return u.String()
}

// Bus returns an open bus over vhosts of its own, declared; it is closed when the test ends.
func Bus(t testing.TB, options ...func(*rabbit.Config)) *rabbit.Bus {
	t.Helper()
	return OpenBus(t, Config(t, options...))
}

// OpenBus opens a bus that is closed when the test ends.
func OpenBus(t testing.TB, cfg rabbit.Config) *rabbit.Bus {
	t.Helper()
	b, err := rabbit.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}
