package memcached

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Config says where the servers are.
type Config struct {
	Addrs   []string      // host:port of each; the order does not matter
	Timeout time.Duration // longest time that a call waits for servers, connecting included
	// Prefix begins every key, so that clusters can share a server; up to 64 letters, digits and ".-_".
	Prefix string
	// connections kept open to each server; more than calls are made at once, or they are opened again and again
	MaxIdle int
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: none
}

// Default returns the defaults: 50 ms, the prefix whirlpool, 64 connections.
func Default() Config {
	return Config{Timeout: 50 * time.Millisecond, Prefix: "whirlpool", MaxIdle: 64, Log: slog.New(slog.DiscardHandler)}
}

const maxPrefix = 64

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf("memcached: "+format, args...))
		}
	}
	bad(len(c.Addrs) == 0, "addrs: name at least one server")
	for _, a := range c.Addrs {
		_, _, err := net.SplitHostPort(a)
		bad(err != nil, "address %q: want HOST:PORT", a)
	}
	bad(c.Timeout <= 0, "timeout %v: want more than 0", c.Timeout)
	bad(!plain(c.Prefix) || len(c.Prefix) > maxPrefix, `prefix %q: want up to %d letters, digits and ".-_"`, c.Prefix,
		maxPrefix)
	bad(c.MaxIdle < 1, "idle connections %d: want at least 1", c.MaxIdle)
	bad(c.Log == nil, "want a logger")
	return errors.Join(errs...)
}

func plain(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_' {
			return false
		}
	}
	return true
}
