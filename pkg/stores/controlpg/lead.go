package controlpg

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	leadLock  = 0x5750_4344 // WPCD in ASCII
	leadEvery = 2 * time.Second
)

// Lead runs work whenever this program holds the lock of the conductor, until ctx is done. The lock is the server's and
// lives as long as the connection: it is free at once when its holder is killed, and within ten seconds when the
// holder's machine has disappeared. The context of work ends when the connection is lost.
//
// For a moment two may believe that they hold it: one whose connection was lost notices within four seconds. What a
// conductor does is harmless then: its changes are compare-and-sets.
func (s *Store) Lead(ctx context.Context, work func(context.Context) error) error {
	for ctx.Err() == nil {
		err := s.lead(ctx, work)
		if err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("this program does not hold the lock of the conductor", "error", err)
		}
		wait(ctx, leadEvery)
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// lead tries for the lock on one connection until it is got and lost.
func (s *Store) lead(ctx context.Context, work func(context.Context) error) error {
	conn, err := pgx.ConnectConfig(ctx, s.pgx.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // gives the lock back
	for got := false; !got; {
		err := conn.QueryRow(ctx, fmt.Sprintf(`SELECT pg_try_advisory_lock(%d, %s)`, leadLock, s.cfg.key())).Scan(&got)
		if err != nil {
			return err
		}
		if !got {
			if wait(ctx, leadEvery); ctx.Err() != nil {
				return nil
			}
		}
	}
	s.cfg.Log.Info("this program conducts: it holds the lock")
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(within) }()
	err = s.hold(within, conn, done)
	cancel()
	if err == errWorked { //nolint:errorlint // it is never wrapped
		return <-done
	}
	<-done //nolint:errcheck // what ends the hold says why
	return err
}

// errWorked says that the work ended by itself.
var errWorked = fmt.Errorf("the work of the conductor has ended")

// hold looks after the connection until it is lost, or the work ends.
func (s *Store) hold(ctx context.Context, conn *pgx.Conn, done chan error) error {
	for {
		select {
		case err := <-done:
			done <- err
			return errWorked
		case <-ctx.Done():
			return nil
		case <-time.After(leadEvery):
		}
		within, cancel := context.WithTimeout(ctx, leadEvery)
		err := conn.Ping(within)
		cancel()
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("the connection with the lock was lost: %w", err)
		}
	}
}
