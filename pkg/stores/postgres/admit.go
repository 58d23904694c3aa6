package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// admitSQL fails with codeRefused if the writer has lost its place in the ring. It is a separate statement before the
// one that it guards, in the same transaction, so that the snapshot of the guarded one is younger than the lock.
const (
	admitSQL    = `SELECT admit($1, $2, $3)`
	codeRefused = "WP001"
)

// refusedRetry is how long a message waits if its write was refused or its node has no place in the ring. It is retried
// until the node has one again, because its content may be stored nowhere else.
const refusedRetry = time.Second

// write sends one statement that changes URLs or hosts, under the node's registration if there is a ring. read, if not
// nil, reads its only row.
func (s *Store) write(ctx context.Context, read func(pgx.Row) error, sql string, args ...any) error {
	switch {
	case s.cfg.Token != nil:
		return s.writeAdmitted(ctx, read, sql, args)
	case read == nil:
		_, err := s.pool.Exec(ctx, sql, args...)
		return err
	}
	return read(s.pool.QueryRow(ctx, sql, args...))
}

// writeAdmitted sends both statements at once: it costs no further round trip.
func (s *Store) writeAdmitted(ctx context.Context, read func(pgx.Row) error, sql string, args []any) (err error) {
	k, err := s.cfg.Token()
	if err != nil {
		return refused(err)
	}
	b := &pgx.Batch{}
	b.Queue(admitSQL, k.Node, int64(k.Incarnation), int64(k.Epoch))
	b.Queue(sql, args...)
	results := s.pool.SendBatch(ctx, b)
	defer func() {
		if closed := results.Close(); err == nil { // the commit's answer
			err = closed
		}
	}()
	if _, err = results.Exec(); err != nil {
		return err
	}
	if read == nil {
		_, err = results.Exec()
		return err
	}
	return read(results.QueryRow())
}

// refused is an error of a writer without a place in the ring.
func refused(err error) error {
	return &bus.RetryError{After: refusedRetry, Expected: true, Err: fmt.Errorf("%w: %w", err, ring.ErrFenced)}
}
