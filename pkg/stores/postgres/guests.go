package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Guests is what people and dry runs want of hosts, and what the frontiers answer: hosts that are held, and turns of
// hosts.
type Guests struct{ s *Store }

// Guests returns what is wanted of hosts besides crawls.
func (s *Store) Guests() *Guests { return &Guests{s} }

// GuestStep is how far a turn is.
type GuestStep int16

// The steps of a turn. Each follows one with a smaller number.
const (
	GuestAsked   GuestStep = iota // no frontier has answered
	GuestGiven                    // the guest may make its request
	GuestRefused                  // there is no turn in time
	GuestEnded                    // the guest has told what became of its request
)

// GuestGone is after how long without a look of its guest a turn is over: its program was killed.
const GuestGone = 15 * time.Second

// guestForget is when rows go that nobody has removed.
const guestForget = time.Hour

// GuestTurn is a turn that somebody asked for. Ask, Answer and Outcome are JSON that this package does not read.
type GuestTurn struct {
	ID      int64
	Ask     json.RawMessage
	Step    GuestStep
	Node    string // that answered
	Answer  json.RawMessage
	Outcome json.RawMessage // nil: no request was made
	Gone    bool            // the guest has not looked for GuestGone
}

const (
	holdHostSQL    = `INSERT INTO held_hosts (key) VALUES ($1) ON CONFLICT DO NOTHING`
	releaseHostSQL = `DELETE FROM held_hosts WHERE key = $1`
	heldHostsSQL   = `SELECT key FROM held_hosts ORDER BY key`

	askTurnSQL = `WITH old AS (DELETE FROM guest_turns WHERE beat < now() - $2::interval) INSERT INTO guest_turns (ask) VALUES ($1) RETURNING id`
	turnCols   = `id, ask, state, coalesce(node, ''), answer, outcome, beat < now() - $1::interval`
	lookSQL    = `UPDATE guest_turns SET beat = now() WHERE id = $2 RETURNING ` + turnCols
	turnsSQL   = `SELECT ` + turnCols + ` FROM guest_turns ORDER BY id`
	answerSQL  = `UPDATE guest_turns SET state = $2, node = $3, answer = $4 WHERE id = $1 AND state = 0 AND beat > now() - $5::interval`
	endTurnSQL = `UPDATE guest_turns SET state = 3, outcome = $2, beat = now() WHERE id = $1 AND state < 3`
	dropSQL    = `DELETE FROM guest_turns WHERE id = $1`
)

// HoldHost keeps a host from being asked by any job, until it is released.
func (g *Guests) HoldHost(ctx context.Context, key string) error {
	return g.exec(ctx, "hold host "+key, holdHostSQL, key)
}

// ReleaseHost lets a host be asked again.
func (g *Guests) ReleaseHost(ctx context.Context, key string) error {
	return g.exec(ctx, "release host "+key, releaseHostSQL, key)
}

// HeldHosts lists the hosts that are held, by their keys.
func (g *Guests) HeldHosts(ctx context.Context) (keys []string, err error) {
	err = g.s.do(ctx, "hosts that are held", func(ctx context.Context) error {
		rows, err := g.s.pool.Query(ctx, heldHostsSQL)
		if err != nil {
			return err
		}
		keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return keys, err
}

// Ask asks for a turn and returns its number. Its guest must look at it more often than GuestGone.
func (g *Guests) Ask(ctx context.Context, ask json.RawMessage) (id int64, err error) {
	err = g.s.do(ctx, "ask for a turn of a host", func(ctx context.Context) error {
		return g.s.pool.QueryRow(ctx, askTurnSQL, ask, guestForget).Scan(&id)
	})
	return id, err
}

// Look returns how far a turn is, and says that its guest is there.
func (g *Guests) Look(ctx context.Context, id int64) (t GuestTurn, err error) {
	err = g.s.do(ctx, fmt.Sprintf("look at turn %d of a host", id), func(ctx context.Context) error {
		rows, err := g.s.pool.Query(ctx, lookSQL, GuestGone, id)
		if err != nil {
			return err
		}
		t, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[GuestTurn])
		return err
	})
	return t, err
}

// Turns lists all turns, the oldest first.
func (g *Guests) Turns(ctx context.Context) (all []GuestTurn, err error) {
	err = g.s.do(ctx, "turns of hosts", func(ctx context.Context) error {
		rows, err := g.s.pool.Query(ctx, turnsSQL, GuestGone)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[GuestTurn])
		return err
	})
	return all, err
}

// Answer gives a turn or refuses it. false: somebody else has answered, or the guest is gone.
func (g *Guests) Answer(ctx context.Context, id int64, step GuestStep, node string,
	answer json.RawMessage) (first bool, err error) {
	err = g.s.do(ctx, fmt.Sprintf("answer turn %d of a host", id), func(ctx context.Context) error {
		tag, err := g.s.pool.Exec(ctx, answerSQL, id, step, node, answer, GuestGone)
		first = tag.RowsAffected() > 0
		return err
	})
	return first, err
}

// End tells what became of the guest's request; nil: none was made.
func (g *Guests) End(ctx context.Context, id int64, outcome json.RawMessage) error {
	return g.exec(ctx, fmt.Sprintf("end turn %d of a host", id), endTurnSQL, id, outcome)
}

// Remove forgets a turn.
func (g *Guests) Remove(ctx context.Context, id int64) error {
	return g.exec(ctx, fmt.Sprintf("remove turn %d of a host", id), dropSQL, id)
}

func (g *Guests) exec(ctx context.Context, what, sql string, args ...any) error {
	return g.s.do(ctx, what, func(ctx context.Context) error {
		_, err := g.s.pool.Exec(ctx, sql, args...)
		return err
	})
}
