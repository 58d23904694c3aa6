package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// CancelMove gives up a move of the ledger whose list was not switched: the ledger stays on the servers of cfg.Ledger,
// and programs start again. Servers that only the new list names are not needed, nor touched: they keep what was copied
// to them, and cannot be servers of a ledger before they are made anew. If it is interrupted, call it again.
func CancelMove(ctx context.Context, cfg Config, tell func(line string)) error {
	return (&mover{cfg: cfg, tell: tell, after: func(string) error { return nil }}).cancel(ctx)
}

func (m *mover) cancel(ctx context.Context) error {
	defer m.close(ctx)
	if err := m.openPresent(ctx); err != nil {
		return err
	}
	begun, err := m.readMark(ctx)
	if err == nil {
		err = m.mayBeCanceled(begun)
	}
	if err == nil {
		err = m.identify(ctx)
	}
	if err == nil {
		err = m.noPrograms(ctx)
	}
	if err == nil && m.mark.step != stepCancel {
		err = m.setStep(ctx, stepCancel)
	}
	if err != nil {
		return err
	}
	m.parts = segmentsOf(m.from, m.knownOfNew())
	err = m.side(ctx, func(ctx context.Context, at *Store) error {
		if err := m.takeBack(ctx, at); err != nil {
			return fmt.Errorf("delete what was copied to %s: %w", at.address(), err)
		}
		return nil
	})
	if err == nil {
		err = m.unmark(ctx, len(m.cfg.Ledger))
	}
	if err != nil {
		return fmt.Errorf("%w\nThe move is not canceled yet: run the command again", err)
	}
	m.say("The move is canceled, the ledger is on %s as before.", listText(m.mark.fromAt))
	if left := m.onlyNew(); len(left) > 0 {
		m.say("What was copied is still on %s: make these databases anew before you use them.", listText(left))
	}
	return nil
}

// openPresent is open for the servers that the ledger is on.
func (m *mover) openPresent(ctx context.Context) error {
	m.nameRun()
	err := m.cfg.Validate()
	if err == nil {
		m.main, err = m.openOne(ctx, m.cfg.URL, false)
	}
	if err == nil {
		err = m.lock(ctx)
	}
	if err == nil {
		m.from, err = m.openList(ctx, "the ledger", m.cfg.Ledger)
	}
	if err != nil {
		return err
	}
	return m.noOtherMover(ctx)
}

func (m *mover) mayBeCanceled(begun bool) error {
	switch {
	case !begun:
		return fmt.Errorf("the ledger of %s is not being moved: there is nothing to cancel", m.main.address())
	case len(m.cfg.Ledger) != len(m.mark.from):
		return m.otherMove()
	case m.mark.step == stepClean || m.mark.step == stepUnmark:
		return errors.New("the new list counts already, and rows are being deleted where they were: bring the move to its " +
			"end (`whirlpool ledger move`, as it was begun), and then move the ledger back")
	}
	return nil
}

// knownOfNew is the new list by its places, with a stand-in for each server that is not among the present ones.
func (m *mover) knownOfNew() (list []*Store) {
	for _, id := range m.mark.to {
		at := &Store{}
		if i := slices.Index(m.mark.from, id); i >= 0 {
			at = m.from[i]
		} else if id == m.mark.main {
			at = m.main
		}
		list = append(list, at)
	}
	if len(list) == 0 {
		list = []*Store{m.main}
	}
	return list
}

// onlyNew names the servers that only the new list has.
func (m *mover) onlyNew() (at []string) {
	for i, id := range m.mark.to {
		if !slices.Contains(m.mark.from, id) && id != m.mark.main {
			at = append(at, m.mark.toAt[i])
		}
	}
	return at
}

// takeBack deletes what was copied to one of the present servers.
func (m *mover) takeBack(ctx context.Context, at *Store) error {
	if segments := m.incoming(at); len(segments) > 0 {
		for _, table := range tablesThatAre(byHash, byHost, inNotes) {
			err := pgx.BeginFunc(ctx, at.pool, func(tx pgx.Tx) error { return removeRows(ctx, tx, table, segments) })
			if err == nil {
				err = m.after("what was copied is deleted")
			}
			if err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
		}
	}
	err := pgx.BeginFunc(ctx, at.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM ledger_moved`)
		if err == nil && !slices.Contains(m.from, at) { // the main server, which has no part of this ledger
			_, err = tx.Exec(ctx, `DELETE FROM followed_since`)
		}
		return err
	})
	if err != nil {
		return err
	}
	return m.after("nothing is noted as copied")
}
