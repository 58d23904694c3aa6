// Package controlpg is the control store of a cluster: a schema of its own in a database of PostgreSQL.
package controlpg

import (
	"context"

	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/controlsql"
)

// Config says where the store is.
type Config struct {
	URL      string // postgres://user:password@host:port/database?options
	Name     string // application_name of the connections
	Schema   string // of the tables; empty: control
	MaxConns int    // connections at once; 0: 8. Two more hear of events and hold the lock of the conductor
	Log      *slog.Logger
}

// Store implements workflow.Store. Several programs may have it open.
type Store struct {
	*controlsql.Store
	cfg Config
	pgx *pgx.ConnConfig
	end context.CancelFunc // of the listener
	wg  sync.WaitGroup
}

const (
	defaultSchema  = "control"
	defaultConns   = 8
	connectTimeout = 3 * time.Second
	// writeLock is the advisory lock of whoever writes: WPCW in ASCII. It is of one schema: see key.
	writeLock = 0x5750_4357
	// channel is where whoever stored events tells the others.
	channel = "whirlpool_control"
)

// Open connects to the store, and makes or migrates its schema. It fails at once where the server cannot be reached.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg.fill()
	cc, err := pgx.ParseConfig(cfg.URL)
	if cfg.URL == "" || err != nil {
		// err may hold the password
		return nil, errors.New("postgres URL of the control store: want postgres://user:password@host:port/database")
	}
	cfg.session(cc)
	db := stdlib.OpenDB(*cc)
	db.SetMaxOpenConns(cfg.MaxConns)
	db.SetMaxIdleConns(cfg.MaxConns)
	db.SetConnMaxIdleTime(10 * time.Minute)
	if err := migrate(ctx, db, cfg.Schema); err != nil {
		return nil, errors.Join(fmt.Errorf("control store postgres://%s:%d/%s, schema %s: %w", cc.Host, cc.Port, cc.Database,
			cfg.Schema, err), db.Close())
	}
	s := &Store{cfg: cfg, pgx: cc}
	s.Store = controlsql.New(db, db, cfg.dialect(), db.Close)
	within, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.end = cancel
	s.wg.Go(func() { s.listen(within) })
	return s, nil
}

func (c *Config) fill() {
	if c.Schema == "" {
		c.Schema = defaultSchema
	}
	if c.MaxConns < 1 {
		c.MaxConns = defaultConns
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
}

// session says how each connection begins. The server ends sessions of machines that have disappeared within ten
// seconds, so that their locks are free then.
func (c *Config) session(cc *pgx.ConnConfig) {
	cc.ConnectTimeout = connectTimeout
	for k, v := range map[string]string{"search_path": pgx.Identifier{c.Schema}.Sanitize(),
		"default_transaction_isolation": "read committed", "application_name": c.Name, "tcp_keepalives_idle": "3",
		"tcp_keepalives_interval": "2", "tcp_keepalives_count": "2", "tcp_user_timeout": "8000",
		"jit": "off"} {
		if v != "" {
			cc.RuntimeParams[k] = v
		}
	}
}

// Ping asks the server for a sign of life.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.Value(ctx, "", "")
	return err
}

// Close closes the store.
func (s *Store) Close() error {
	s.end()
	s.wg.Wait()
	return s.Store.Close()
}

// dialect is PostgreSQL's.
func (c *Config) dialect() *controlsql.Dialect {
	return &controlsql.Dialect{
		Bind:     newBinder(),
		Twice:    func(err error) bool { return code(err) == "23505" },
		HasLabel: func(column string) string { return `jsonb_exists(` + column + `::jsonb, ?)` },
		LabelIs:  func(column string) string { return column + `::jsonb ->> ? = ?` },
		Begin:    fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d, %s)`, writeLock, c.key()),
		Changed:  `NOTIFY ` + channel + `, ` + quoted(c.Schema),
	}
}

// key makes of an advisory lock one of the schema: databases have several where tests share one.
func (c *Config) key() string { return `hashtext(` + quoted(c.Schema) + `)` }

func quoted(text string) string { return `'` + strings.ReplaceAll(text, `'`, `''`) + `'` }

func code(err error) string {
	if e := new(pgconn.PgError); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// newBinder makes of ? and ?1 what PostgreSQL has: $1. Statements are few, and remembered.
func newBinder() func(string) string {
	var known sync.Map
	return func(statement string) string {
		if v, found := known.Load(statement); found {
			return v.(string) //nolint:forcetypeassert // it holds nothing else
		}
		bound := bind(statement)
		known.Store(statement, bound)
		return bound
	}
}

// bind numbers the ? of a statement, but for those that have a number.
func bind(statement string) string {
	var b strings.Builder
	n := 0
	for i := 0; i < len(statement); i++ {
		if statement[i] != '?' {
			b.WriteByte(statement[i])
			continue
		}
		b.WriteByte('$')
		if i+1 == len(statement) || statement[i+1] < '0' || statement[i+1] > '9' {
			n++
			b.WriteString(strconv.Itoa(n))
		}
	}
	return b.String()
}
