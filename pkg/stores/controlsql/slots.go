package controlsql

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

const slotSQL = `SELECT t.schedule, s.workflow, s.name, t.label, t.at, t.due, t.state, t.reason, t.execution, t.decided_at
	FROM slots t JOIN schedules s ON s.id = t.schedule`

func scanSlot[R interface{ Scan(...any) error }](row R, t *workflow.Slot) error {
	var execution sql.NullString
	err := row.Scan(&t.Schedule, &t.Workflow, &t.Name, &t.Label, moment{&t.At}, moment{&t.Due}, &t.State, &t.Reason,
		&execution, moment{&t.Decided})
	t.Execution = crawl.JobID(execution.String)
	return err
}

// DueSlots implements workflow.Store.
func (s *Store) DueSlots(ctx context.Context, now time.Time) ([]workflow.Slot, error) {
	rows, err := s.read.QueryContext(ctx,
		slotSQL+` WHERE t.state IN ('planned', 'waiting') AND (t.state = 'waiting' OR t.due <= ?)
		ORDER BY t.at, t.schedule, t.label`, micros(now))
	out, _, err := gather(rows, err, -1, scanSlot)
	return out, err
}

// Slots implements workflow.Store.
func (s *Store) Slots(ctx context.Context, f workflow.SlotFilter,
	p workflow.Page) (*workflow.List[workflow.Slot], error) {
	var q query
	if f.Schedule != "" {
		q.and(`t.schedule = ?`, f.Schedule)
	}
	if f.Workflow != "" {
		q.and(`s.workflow = (SELECT id FROM workflows WHERE id = ? OR slug = ?)`, f.Workflow, f.Workflow)
	}
	if len(f.States) > 0 {
		list := make([]any, len(f.States))
		for i, state := range f.States {
			list[i] = state
		}
		q.and(`t.state IN (?`+strings.Repeat(", ?", len(list)-1)+`)`, list...)
	}
	if err := q.behind(p.Cursor, "t.at", "t.schedule || ' ' || t.label"); err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx,
		slotSQL+q.text()+` ORDER BY t.at DESC, t.schedule || ' ' || t.label DESC LIMIT ?`, append(q.args, p.Limit+1)...)
	out := &workflow.List[workflow.Slot]{}
	var more bool
	out.Items, more, err = gather(rows, err, p.Limit, scanSlot)
	if more {
		last := &out.Items[len(out.Items)-1]
		out.Next = cursor(last.At.UnixMicro(), string(last.Schedule)+" "+last.Label)
	}
	return out, err
}

// Decide implements workflow.Store.
func (s *Store) Decide(ctx context.Context, d *workflow.Decision) error {
	return s.change(ctx, func(tx *Tx) error {
		first := &d.Slots[0]
		if d.Start != nil {
			once := "schedule " + string(first.Schedule) + " " + first.Label
			if err := createExecution(ctx, tx, d.Start, d.Job, once, d.Created); err != nil {
				return err
			}
			first.Execution = d.Start.ID
		}
		err := one(tx.ExecContext(ctx, `UPDATE slots SET state = ?, reason = ?, execution = ?, decided_at = ?
			WHERE schedule = ? AND label = ? AND state = ?`, first.State, first.Reason, textOrNull(string(first.Execution)),
			micros(first.Decided), first.Schedule, first.Label, d.From))
		for i := 1; err == nil && i < len(d.Slots); i++ {
			err = insertSlot(ctx, tx, &d.Slots[i])
		}
		if err == nil && d.From == workflow.SlotPlanned {
			err = advance(ctx, tx, d)
		}
		for _, e := range d.Events {
			if err == nil {
				e.Workflow = first.Workflow
				err = addEvent(ctx, tx, e)
			}
		}
		return err
	})
}

// advance notes how far a schedule is, and plans its next slot.
func advance(ctx context.Context, tx *Tx, d *workflow.Decision) error {
	last := d.Slots[len(d.Slots)-1]
	_, err := tx.ExecContext(ctx, `UPDATE schedules SET mark_at = ? WHERE id = ? AND coalesce(mark_at, 0) < ?`,
		micros(last.At), last.Schedule, micros(last.At))
	if err == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM slots WHERE schedule = ?1 AND state NOT IN ('planned', 'waiting')
			AND at < (SELECT at FROM slots WHERE schedule = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)`, last.Schedule, workflow.MaxSlots)
	}
	if err == nil {
		err = plan(ctx, tx, d.Next)
	}
	return err
}
