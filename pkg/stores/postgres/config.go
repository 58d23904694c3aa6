package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Config says where the database is and how it is used.
type Config struct {
	URL string // postgres://user:password@host:port/database?options
	// URLs of the servers that share the ledger, in the order in which they were when it was begun; none: URL's
	Ledger     []string
	Name       string        // application_name of the connections, for people who look at pg_stat_activity
	MaxConns   int           // connections at once to each server; a call waits for one
	Timeout    time.Duration // of one call, where its context sets no earlier end
	JobExpiry  time.Duration // how long a job's specification is believed without asking again
	SkipSchema bool          // do not migrate: somebody else does
	Resources  int64         // octets of the resources that renders need, of all nodes, at most; 0: DefaultResources
	// Token returns the node's registration and the newest ring table that it knows; writes to URLs and hosts carry it.
	// A write under an outdated token fails with ring.ErrFenced, as does one for which Token returns an error. Both
	// become a *bus.RetryError, because the node may get its place back. Nil: there is no ring, and every write counts.
	Token func() (ring.Token, error)
	Log   *slog.Logger // nil: slog.Default
}

// Default returns the settings of a program of a node. The caller sets the URL.
//
// Eight connections are more than a small server's processors can work for, and few enough for the programs of several
// nodes to stay below its limit of connections.
func Default() Config {
	return Config{Name: "whirlpool", MaxConns: 8, Timeout: 30 * time.Second, JobExpiry: 5 * time.Second,
		Resources: DefaultResources}
}

// Validate reports everything that is wrong, a line each.
func (c *Config) Validate() error {
	var errs []error
	if _, err := pgxpool.ParseConfig(c.URL); c.URL == "" || err != nil {
		// err may hold the password
		errs = append(errs, errors.New("postgres URL: want postgres://user:password@host:port/database"))
	}
	for i, u := range c.Ledger {
		if _, err := pgxpool.ParseConfig(u); u == "" || err != nil || slices.Contains(c.Ledger[:i], u) {
			errs = append(errs, fmt.Errorf("server %d of the postgres ledger: want "+
				"postgres://user:password@host:port/database, each once", i+1))
		}
	}
	if c.MaxConns < 1 {
		errs = append(errs, fmt.Errorf("postgres max_conns %d: want at least 1", c.MaxConns))
	}
	if c.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("postgres timeout %v: want more than 0", c.Timeout))
	}
	if c.JobExpiry < 0 {
		errs = append(errs, fmt.Errorf("postgres job_expiry %v: want 0 or more", c.JobExpiry))
	}
	if c.Resources < 0 {
		errs = append(errs, fmt.Errorf("postgres: %d bytes for the resources of renders: want 0 or more", c.Resources))
	}
	return errors.Join(errs...)
}

// Bounds of connecting and cancelling.
const (
	connectTimeout = 10 * time.Second // a host that does not answer, or is very busy; one that refuses says so at once
	cancelGrace    = time.Second      // for the server to end a cancelled statement, before the connection is given up
)

// settings are set in every session. Statements are look-ups by key and are planned once. Without these settings, plans
// made while the tables were empty would scan them, until the server next analyses the tables. And if the planner
// overestimates a look-up it starts parallel workers: 18 ms instead of 0.5 for a near-duplicate among 10^7 (measured).
var settings = map[string]string{
	"plan_cache_mode": "force_generic_plan", "jit": "off", "max_parallel_workers_per_gather": "0",
	"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
	// Each statement sees what was committed before it, whatever the server's default: admit relies on it.
	"default_transaction_isolation": "read committed",
	// The server ends transactions of a client machine that has disappeared, and releases their locks, after this time,
	// if it is connected by TCP.
	"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
}

func (c *Config) pool() (*pgxpool.Config, error) {
	p, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, err
	}
	p.MaxConns = int32(c.MaxConns)
	p.MaxConnIdleTime = 10 * time.Minute // connections are not made and dropped with the tides of a crawl
	p.ConnConfig.ConnectTimeout = connectTimeout
	for k, v := range settings {
		p.ConnConfig.RuntimeParams[k] = v
	}
	if p.ConnConfig.RuntimeParams["application_name"] == "" {
		p.ConnConfig.RuntimeParams["application_name"] = c.Name
	}
	// A cancelled call cancels its statement and keeps its connection.
	p.ConnConfig.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelGrace}
	}
	return p, nil
}

func (c *Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.Default()
	}
	return c.Log
}

// within bounds a call.
func (c *Config) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.Timeout)
}
