package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// maxTries bounds how often a statement is sent that lost a deadlock or never reached the server.
const maxTries = 6

// do makes a call: it bounds it in time, tries again what may be tried again at once, and names the error.
func (s *Store) do(whole context.Context, what string, call func(ctx context.Context) error) error {
	ctx, cancel := s.cfg.within(whole)
	defer cancel()
	for try := 1; ; try++ {
		err := call(ctx)
		if err == nil {
			return nil
		}
		if try >= maxTries || !passing(err) || !pause(ctx, try) {
			return s.failure(whole, what, err)
		}
		s.log.Debug("try again", "what", what, "try", try, "error", err)
	}
}

// failure names the error of a call. The server is away, too, if it did not answer within the time of one call: it is
// cut off, or keeps a table locked.
func (s *Store) failure(whole context.Context, what string, err error) error {
	if whole.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return &bus.AwayError{Err: fmt.Errorf("postgres: %s: no answer within %v: %w", what, s.cfg.Timeout, err)}
	}
	return fault(what, err)
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
// faults of the data (PostgreSQL manual, appendix A) and permanent. Our own class says that the writer has no place in
// the ring at the moment. All others are temporary; of those that are no fault of the statement a message is never
// buried.
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
	if away(err, pg) {
		return &bus.AwayError{Err: err}
	}
	return err
}

// awayCodes are errors of a server that takes nothing from us, whatever it is sent: classes, and codes of other
// classes.
var awayCodes = []string{
	"08",    // connection
	"28",    // the login is refused
	"53",    // disk full, out of memory, too many connections
	"57P",   // the server stops, or starts
	"57014", // it took too long: for us, or for the server's statement_timeout
	"58",    // files cannot be read or written
	"25006", // only reads, as a standby that is asked after a failover
	"42501", // rights were taken away
	"55P03", // a lock is not to be had
}

// away reports whether the server is out of reach or takes nothing; pg is what it said, nil: nothing.
func away(err error, pg *pgconn.PgError) bool {
	switch {
	case errors.As(err, new(*pgconn.ConnectError)):
		return true
	case pg != nil:
		return slices.ContainsFunc(awayCodes, func(code string) bool { return strings.HasPrefix(pg.Code, code) })
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded): // ours
		return false
	}
	return errors.As(err, new(net.Error)) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		pgconn.SafeToRetry(err)
}
