package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is the stores of one database over one pool of connections, and of those that share its ledger. It is safe for
// concurrent use.
type Store struct {
	main      *Store   // which has the jobs: this one, or that to whose ledger it belongs
	ledger    []*Store // the servers of the ledger, in the order of their keys; mostly this one
	cfg       Config
	log       *slog.Logger
	pool      *pgxpool.Pool
	jobs      *Jobs
	budgets   *Budgets
	content   *ContentSet
	attempt   *AttemptLog
	following *Following
	followed  *Followed
	resources *Resources
	newTexts  atomic.Int64 // pages whose words were written
}

// Open connects and migrates the schema. It fails at once if the server cannot be reached: the caller does the waiting.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s, err := openServer(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.main, s.jobs = s, newJobs(s)
	s.follow()
	s.budgets, s.attempt, s.content, s.resources = newBudgets(s), newAttemptLog(s), newContentSet(s), newResources(s)
	if err := s.addServers(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// openServer connects to one server.
func openServer(ctx context.Context, cfg Config) (*Store, error) {
	pc, err := cfg.pool()
	if err != nil {
		return nil, errors.New("postgres URL cannot be read")
	}
	return connect(ctx, cfg, pc)
}

func connect(ctx context.Context, cfg Config, pc *pgxpool.Config) (s *Store, err error) {
	s = &Store{cfg: cfg, log: cfg.log()}
	if s.pool, err = pgxpool.NewWithConfig(ctx, pc); err != nil {
		return nil, fmt.Errorf("open the pool of %s: %w", address(pc.ConnConfig), err)
	}
	if !cfg.SkipSchema {
		err = migrate(ctx, s.pool, s.log)
	}
	if err == nil {
		err = s.ping(ctx)
	}
	if err != nil {
		s.pool.Close()
		return nil, err
	}
	return s, nil
}

// follow is for a server of the ledger.
func (s *Store) follow() {
	s.following = newFollowing(s)
	s.followed = newFollowed(s.following)
}

// Ping asks each server for a sign of life.
func (s *Store) Ping(ctx context.Context) error {
	errs := make([]error, 1+len(s.ledger))
	errs[0] = s.ping(ctx)
	_ = s.together(func(i int, at *Store) error { // the errors are in the list
		if at != s {
			errs[1+i] = at.ping(ctx)
		}
		return nil
	})
	return errors.Join(errs...)
}

func (s *Store) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := s.pool.Ping(ctx); err != nil {
		cc := s.pool.Config().ConnConfig
		return fmt.Errorf("postgres at %s: %w", address(cc), loginError(cc, err))
	}
	return nil
}

// Close writes what is under way, gives back the allowances that were not spent and closes the connections.
func (s *Store) Close() {
	s.attempt.close()
	s.content.group.close()
	for _, at := range s.ledger {
		if at != s {
			at.closeServer()
		}
	}
	s.budgets.close()
	s.closeServer()
}

// closeServer closes what each server has.
func (s *Store) closeServer() {
	s.followed.close()
	s.following.close()
	s.pool.Close()
}

// Stat describes the pool, for metrics.
func (s *Store) Stat() *pgxpool.Stat { return s.pool.Stat() }

// URLs returns the URL set and ledger.
func (s *Store) URLs() *URLs { return &URLs{s} }

// Budgets returns the allowances.
func (s *Store) Budgets() *Budgets { return s.budgets }

// ContentSet returns the fingerprints.
func (s *Store) ContentSet() *ContentSet { return s.content }

// Hosts returns the host and robots.txt records.
func (s *Store) Hosts() *Hosts { return &Hosts{s} }

// AttemptLog returns crawl.log.
func (s *Store) AttemptLog() *AttemptLog { return s.attempt }

// Jobs returns the jobs.
func (s *Store) Jobs() *Jobs { return s.jobs }
