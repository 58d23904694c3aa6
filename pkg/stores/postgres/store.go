package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Store is the stores of one database over one pool of connections. It is safe for concurrent use.
type Store struct {
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
	pc, err := cfg.pool()
	if err != nil {
		return nil, errors.New("postgres URL cannot be read")
	}
	s := &Store{cfg: cfg, log: cfg.log()}
	if !cfg.SkipSchema {
		if err := migrate(ctx, pc.ConnConfig, s.log); err != nil {
			return nil, err
		}
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, pc); err != nil {
		return nil, fmt.Errorf("open the pool of %s: %w", address(pc.ConnConfig), err)
	}
	if err := s.Ping(ctx); err != nil {
		s.pool.Close()
		return nil, err
	}
	s.jobs, s.budgets, s.attempt, s.content = newJobs(s), newBudgets(s), newAttemptLog(s), &ContentSet{s: s}
	s.resources = newResources(s)
	s.following = newFollowing(s)
	s.followed = newFollowed(s.following)
	return s, nil
}

// Ping asks the server for a sign of life.
func (s *Store) Ping(ctx context.Context) error {
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
	s.followed.close()
	s.following.close()
	s.budgets.close()
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
