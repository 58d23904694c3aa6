package controlpg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	listenAgain = time.Second      // after a connection was lost
	listenPing  = 15 * time.Second // without a word, after which the connection is tried
)

// listen wakes whoever waits for events when another program has stored some, until ctx is done. After a connection was
// lost everybody looks: a word may have been lost with it.
func (s *Store) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.hear(ctx); ctx.Err() == nil {
			s.cfg.Log.Warn("news of other programs come late: the connection that hears of them was lost", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
}

// hear listens on one connection.
func (s *Store) hear(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.pgx.Copy())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // it may be lost
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	s.Wake()
	for {
		within, cancel := context.WithTimeout(ctx, listenPing)
		n, err := conn.WaitForNotification(within)
		quiet := within.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && n.Payload == s.cfg.Schema:
			s.Wake()
		case err != nil && quiet:
			err = s.stillThere(ctx, conn)
		}
		if err != nil {
			return err
		}
	}
}

// stillThere tries a connection that has been quiet.
func (s *Store) stillThere(ctx context.Context, conn *pgx.Conn) error {
	within, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return conn.Ping(within)
}
