package controlsql

import (
	"context"
	"database/sql"
	"errors"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// CreateSchedule implements workflow.Store.
func (s *Store) CreateSchedule(ctx context.Context, sc *workflow.Schedule, e workflow.Event) error {
	rule, err := asJSON(sc.Rule)
	if err != nil {
		return err
	}
	sc.Lock = 1
	e.Workflow = sc.Workflow
	return s.change(ctx, func(tx *Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT slug FROM workflows WHERE id = ?`, sc.Workflow).Scan(&sc.Slug)
		if err != nil {
			return missing(err, "workflow %s", sc.Workflow)
		}
		_,
			err = tx.ExecContext(ctx,
			`INSERT INTO schedules (id, workflow, name, rule, words, reason, paused_at, created_at, mark_at, account, lock)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, sc.ID, sc.Workflow, sc.Name, rule, sc.Words, sc.Reason, micros(sc.Paused),
			micros(sc.Created), micros(sc.Mark), sc.Account, sc.Lock)
		if s.dialect.Twice(err) {
			return workflow.ErrNameTaken
		}
		if err == nil {
			err = plan(ctx, tx, sc.Next)
		}
		if err == nil {
			err = addEvent(ctx, tx, e)
		}
		return err
	})
}

// plan stores a planned slot; nil: none.
func plan(ctx context.Context, tx *Tx, next *workflow.Slot) error {
	if next == nil {
		return nil
	}
	slot := *next
	slot.State = workflow.SlotPlanned
	return insertSlot(ctx, tx, &slot)
}

func insertSlot(ctx context.Context, tx *Tx, slot *workflow.Slot) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO slots (schedule, label, at, due, state, reason, execution, decided_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, slot.Schedule, slot.Label, micros(slot.At), micros(slot.Due), slot.State, slot.Reason,
		textOrNull(string(slot.Execution)), micros(slot.Decided))
	return err
}

// UpdateSchedule implements workflow.Store.
func (s *Store) UpdateSchedule(ctx context.Context, sc *workflow.Schedule, unwait string, e workflow.Event) error {
	rule, err := asJSON(sc.Rule)
	if err != nil {
		return err
	}
	e.Workflow = sc.Workflow
	err = s.change(ctx, func(tx *Tx) error {
		err := one(tx.ExecContext(ctx,
			`UPDATE schedules SET name = ?, rule = ?, words = ?, reason = ?, paused_at = ?, lock = lock + 1
			WHERE id = ? AND lock = ?`, sc.Name, rule, sc.Words, sc.Reason, micros(sc.Paused), sc.ID, sc.Lock))
		if s.dialect.Twice(err) {
			return workflow.ErrNameTaken
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM slots WHERE schedule = ? AND state = 'planned'`, sc.ID)
		}
		if err == nil && unwait != "" {
			_,
				err = tx.ExecContext(ctx,
				`UPDATE slots SET state = 'skipped', reason = ?, decided_at = ? WHERE schedule = ? AND state = 'waiting'`,
				unwait, micros(e.At), sc.ID)
		}
		if err == nil {
			err = plan(ctx, tx, sc.Next)
		}
		if err == nil {
			err = addEvent(ctx, tx, e)
		}
		return err
	})
	if err == nil {
		sc.Lock++
	}
	return err
}

// RemoveSchedule implements workflow.Store.
func (s *Store) RemoveSchedule(ctx context.Context, id workflow.ScheduleID, lock int64, e workflow.Event) error {
	return s.change(ctx, func(tx *Tx) error {
		var now int64
		err := tx.QueryRowContext(ctx, `SELECT workflow, lock FROM schedules WHERE id = ?`, id).Scan(&e.Workflow, &now)
		if err != nil {
			return missing(err, "schedule %.80q", id)
		}
		if now != lock {
			return workflow.ErrStale
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM schedules WHERE id = ?`, id); err != nil {
			return err
		}
		return addEvent(ctx, tx, e)
	})
}

const scheduleSQL = `SELECT s.id, s.workflow, w.slug, s.name, s.rule, s.words, s.reason, s.paused_at, s.created_at, s.mark_at, s.account, s.lock
	FROM schedules s JOIN workflows w ON w.id = s.workflow`

func scanSchedule[R interface{ Scan(...any) error }](row R, sc *workflow.Schedule) error {
	return row.Scan(&sc.ID, &sc.Workflow, &sc.Slug, &sc.Name, fromJSON{&sc.Rule}, &sc.Words, &sc.Reason,
		moment{&sc.Paused}, moment{&sc.Created}, moment{&sc.Mark}, &sc.Account, &sc.Lock)
}

// Schedule implements workflow.Store.
func (s *Store) Schedule(ctx context.Context, id workflow.ScheduleID) (*workflow.Schedule, error) {
	var sc workflow.Schedule
	if err := scanSchedule(s.read.QueryRowContext(ctx, scheduleSQL+` WHERE s.id = ?`, id), &sc); err != nil {
		return nil, missing(err, "schedule %.80q", id)
	}
	return &sc, s.around(ctx, &sc)
}

// around adds the slots before and after now.
func (s *Store) around(ctx context.Context, sc *workflow.Schedule) (err error) {
	find := func(where string) (*workflow.Slot, error) {
		var slot workflow.Slot
		err := scanSlot(s.read.QueryRowContext(ctx,
			slotSQL+` WHERE t.schedule = ? AND `+where+` ORDER BY t.at DESC, t.label DESC LIMIT 1`, sc.ID), &slot)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		return &slot, err
	}
	if sc.Next, err = find(`t.state = 'planned'`); err == nil {
		sc.Last, err = find(`t.state <> 'planned'`)
	}
	return err
}

// Schedules implements workflow.Store.
func (s *Store) Schedules(ctx context.Context, of string, p workflow.Page) (*workflow.List[workflow.Schedule], error) {
	var q query
	if of != "" {
		q.and(`s.workflow = (SELECT id FROM workflows WHERE id = ? OR slug = ?)`, of, of)
	}
	if err := q.behind(p.Cursor, "s.created_at", "s.id"); err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, scheduleSQL+q.text()+` ORDER BY s.created_at DESC, s.id DESC LIMIT ?`,
		append(q.args, p.Limit+1)...)
	out := &workflow.List[workflow.Schedule]{}
	var more bool
	if out.Items, more, err = gather(rows, err, p.Limit, scanSchedule); err != nil {
		return nil, err
	}
	for i := range out.Items {
		if err := s.around(ctx, &out.Items[i]); err != nil {
			return nil, err
		}
	}
	if more {
		last := &out.Items[len(out.Items)-1]
		out.Next = cursor(last.Created.UnixMicro(), string(last.ID))
	}
	return out, nil
}
