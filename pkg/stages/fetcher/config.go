package fetcher

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/robotscache"
)

// Config says how the fetcher reaches the web. What concerns a single job is in the job.
type Config struct {
	Proxy           string         // URL of an http, https or socks5 proxy; empty: none. The environment is not consulted
	AllowPrivate    bool           // permit loopback, private and other addresses that are not public
	PrivateJobs     bool           // permit them to the jobs that ask for it (crawl.Job.AllowPrivate)
	MaxIdleConns    int            // connections kept open, over all hosts
	IdleConnTimeout time.Duration  // how long a connection is kept without a request
	RootCAs         *x509.CertPool // whom to trust; nil: the system's
}

// Default returns the defaults.
func Default() Config {
	return Config{MaxIdleConns: 512, IdleConnTimeout: 30 * time.Second}
}

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	if err := c.checkProxy(); err != nil {
		errs = append(errs, err)
	}
	if c.MaxIdleConns < 1 {
		errs = append(errs, fmt.Errorf("fetch: idle connections %d: want at least 1", c.MaxIdleConns))
	}
	if c.IdleConnTimeout <= 0 {
		errs = append(errs, fmt.Errorf("fetch: idle connection timeout %v: want more than 0", c.IdleConnTimeout))
	}
	return errors.Join(errs...)
}

// checkProxy finds what is wrong with the URL of the proxy.
func (c *Config) checkProxy() error {
	if c.Proxy == "" {
		return nil
	}
	if _, err := crawl.ParseProxy(c.Proxy); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	return nil
}

// Resolver finds the addresses of a host; dnscache.Cache is one, and its errors are understood.
type Resolver interface {
	Lookup(ctx context.Context, host string) ([]netip.Addr, error)
}

// Bodies is what the stage needs of crawl.Bodies.
type Bodies interface {
	Put(ctx context.Context, r io.Reader) (crawl.BodyRef, error)
	Release(ctx context.Context, ref crawl.BodyRef) error
}

// Deps are what a Handler works with.
type Deps struct {
	Jobs    crawl.Jobs
	Bodies  Bodies
	Robots  *robotscache.Cache
	DNS     Resolver
	Archive crawl.Archive // nil: none
	// Archived says whose exchanges go to Archive; nil: those of all jobs.
	Archived func(*crawl.Job) bool
	// Redirects, Ledger and Attempts are there for loops of redirects. Without them only a URL that redirects to itself
	// is found out.
	Redirects crawl.Redirects
	Ledger    crawl.Ledger
	Attempts  crawl.AttemptLog
	// Jars keeps cookies; nil: they are forgotten. OwnJars: no other process changes them.
	Jars    crawl.Jars
	OwnJars bool
	Metrics prometheus.Registerer // nil: none
	Client  Client                // nil: HTTP, as the Config says
	Plugins Plugins               // nil: none
	// Resources keeps what renders need; nil: none are asked for.
	Resources crawl.Resources
}

func (d *Deps) validate() error {
	if d.Jobs == nil || d.Bodies == nil || d.Robots == nil || d.DNS == nil {
		return errors.New("fetch: want jobs, bodies, robots and DNS")
	}
	return nil
}
