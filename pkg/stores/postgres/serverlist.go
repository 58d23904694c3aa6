package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ErrLedger says that the servers of the ledger are not those on which it was begun.
var ErrLedger = errors.New("the ledger is not on these servers")

// Each server of a ledger knows its place and its cluster, and the main server knows each of them. The list is made
// while there are no jobs, and stays until MoveLedger makes another one: a program with another one, or with an empty
// database in the place of one that was lost, does not start.
const (
	joinSQL = `INSERT INTO ledger_servers (place, cluster, servers)
		SELECT $1, coalesce(nullif($2::text, '')::uuid, gen_random_uuid()), $3
		WHERE NOT EXISTS (SELECT FROM urls) AND NOT EXISTS (SELECT FROM jobs WHERE $1 = 0) AND NOT EXISTS (SELECT FROM ledger_move)
		ON CONFLICT DO NOTHING`
	joinedSQL = `SELECT cluster::text, servers, server::text FROM ledger_servers WHERE place = $1`
	enlistSQL = `INSERT INTO ledger_list (place, server) SELECT $1, $2::text::uuid WHERE NOT EXISTS (SELECT FROM jobs)
		ON CONFLICT DO NOTHING`
	listedSQL = `SELECT coalesce((SELECT server::text FROM ledger_list WHERE place = $1), '')`
)

// membership is what a database says of itself.
type membership struct {
	cluster, server string
	servers         int // 0: it is no server of a ledger, and its ledger is on no other; beingMoved: see there
}

// enlist makes the databases what the configuration says that they are, if they are new, and fails if they are others.
func (s *Store) enlist(ctx context.Context) error {
	servers := len(s.cfg.Ledger)
	m, err := s.join(ctx, 0, "", servers, true)
	if err == nil && m.servers != servers {
		err = s.notBegunSo(m.servers)
	}
	if err != nil || servers == 0 {
		return err
	}
	for i, at := range s.ledger {
		if err := s.enlistOne(ctx, i+1, at, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) enlistOne(ctx context.Context, place int, at *Store, main membership) error {
	listed, err := s.listed(ctx, place, "")
	if err != nil {
		return err
	}
	m, err := at.join(ctx, place, main.cluster, main.servers, listed == "")
	if err == nil && m.servers > 0 && listed == "" {
		listed, err = s.listed(ctx, place, m.server)
	}
	switch {
	case err != nil:
		return err
	case m.servers == 0:
		return at.notAt(ctx, place, listed != "")
	case m.cluster != main.cluster || m.servers != main.servers:
		return fmt.Errorf("%w: %s is server %d of another cluster, or of %d servers: "+
			"postgres.ledger must name those of this one, in their order", ErrLedger, at.address(), place, m.servers)
	case m.server != listed:
		return fmt.Errorf("%w: %s is not the database that was server %d when the ledger was begun: "+
			"postgres.ledger must name that one", ErrLedger, at.address(), place)
	}
	return nil
}

func (s *Store) address() string { return address(s.pool.Config().ConnConfig) }

// join returns what this database is at a place, after it became that, if it may and is new.
func (s *Store) join(ctx context.Context, place int, cluster string, servers int, may bool) (m membership, err error) {
	err = s.do(ctx, "where the ledger is", func(ctx context.Context) error {
		if may && servers > 0 {
			if _, err := s.pool.Exec(ctx, joinSQL, place, cluster, servers); err != nil {
				return err
			}
		}
		err := s.pool.QueryRow(ctx, joinedSQL, place).Scan(&m.cluster, &m.servers, &m.server)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return m, err
}

// listed returns which database the main server knows at a place: server, if it knows none and there are no jobs.
func (s *Store) listed(ctx context.Context, place int, server string) (listed string, err error) {
	err = s.do(ctx, "the servers of the ledger", func(ctx context.Context) error {
		if server != "" {
			if _, err := s.pool.Exec(ctx, enlistSQL, place, server); err != nil {
				return err
			}
		}
		return s.pool.QueryRow(ctx, listedSQL, place).Scan(&listed)
	})
	return listed, err
}

// beingMoved is how many servers the ledger is on while it is moved to others: no list has so many.
const beingMoved = -1

// notBegunSo is the error of a main server whose ledger was begun on another number of servers.
func (s *Store) notBegunSo(begun int) error {
	switch begun {
	case beingMoved:
		return fmt.Errorf("%w: that of %s is being moved to others: run `whirlpool ledger move` again, as it was begun, to "+
			"bring that to its end", ErrLedger, s.address())
	case 0:
		return fmt.Errorf("%w: %s has a ledger of its own, and postgres.ledger names %d servers: "+
			"leave it empty, or begin with new databases", ErrLedger, s.address(), len(s.cfg.Ledger))
	}
	return fmt.Errorf("%w: that of %s was begun on %d servers, and postgres.ledger names %d: "+
		"name those, in their order", ErrLedger, s.address(), begun, len(s.cfg.Ledger))
}

// notAt is the error of a database that is not the server at a place; begun: another one was.
func (s *Store) notAt(ctx context.Context, place int, begun bool) error {
	var other int
	const sql = `SELECT coalesce((SELECT min(place) FROM ledger_servers WHERE place > 0), 0)`
	if err := s.pool.QueryRow(ctx, sql).Scan(&other); err != nil {
		return err
	}
	switch {
	case other > 0:
		return fmt.Errorf("%w: %s is server %d of them, and stands at place %d of postgres.ledger: the order must stay",
			ErrLedger, s.address(), other, place)
	case begun:
		return fmt.Errorf("%w: %s was not server %d when the ledger was begun: postgres.ledger must name the database "+
			"that was. If that is lost, its part of the URLs is: bring it back from a backup", ErrLedger, s.address(), place)
	}
	return fmt.Errorf("%w: %s has a ledger of its own already: postgres.ledger must name new databases", ErrLedger,
		s.address())
}
