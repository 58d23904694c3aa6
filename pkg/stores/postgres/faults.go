package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// maxTries bounds how often a statement is sent that lost a deadlock or never reached the server.
const maxTries = 6

// do makes a call: it bounds it in time, tries again what may be tried again at once, and names the error.
func (s *Store) do(ctx context.Context, what string, call func(ctx context.Context) error) error {
	ctx, cancel := s.cfg.within(ctx)
	defer cancel()
	for try := 1; ; try++ {
		err := call(ctx)
		if err == nil {
			return nil
		}
		if try >= maxTries || !passing(err) || !pause(ctx, try) {
			return fault(what, err)
		}
		s.log.Debug("try again", "what", what, "try", try, "error", err)
	}
}

// passing reports whether the same statement may succeed if sent again at once: it was the victim of a deadlock or a
// serialisation failure, the server closed its connection (after a restart, each idle connection fails once), or
// nothing of it was sent.
func passing(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "40P01" || pg.Code == "40001" || pg.Code == "57P01"
	}
	return pgconn.SafeToRetry(err)
}

// pause waits 5 to 10 ms, doubled each time; false if ctx ended.
func pause(ctx context.Context, try int) bool {
	wait := 5 * time.Millisecond << (try - 1)
	t := time.NewTimer(wait + rand.N(wait))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// fault wraps an error of the server. Classes 22 (data exception), 23 (integrity constraint) and 54 (program limit) are
// faults of the data (PostgreSQL manual, appendix A) and permanent; all others are temporary. Our own class says that
// the writer has no place in the ring at the moment.
func fault(what string, err error) error {
	err = fmt.Errorf("postgres: %s: %w", what, err)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && len(pg.Code) == 5 {
		switch pg.Code[:2] {
		case "22", "23", "54":
			return crawl.Permanent(err)
		case codeRefused[:2]:
			return refused(err)
		}
	}
	return err
}
