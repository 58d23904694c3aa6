package controlsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Alerts implements workflow.Store.
func (s *Store) Alerts(ctx context.Context) ([]workflow.Alert, error) {
	rows, err := s.read.QueryContext(ctx,
		`SELECT rule, subject, state, severity, text, value, workflow, execution, since_at, fired_at, told_at, lock
		FROM alerts ORDER BY since_at DESC, rule, subject`)
	out, _, err := gather(rows, err, -1, func(r *sql.Rows, a *workflow.Alert) error {
		return r.Scan(&a.Rule, &a.Subject, &a.State, &a.Severity, &a.Text, &a.Value, &a.Workflow, &a.Execution,
			moment{&a.Since}, moment{&a.Fired}, moment{&a.Told}, &a.Lock)
	})
	return out, err
}

// SetAlert implements workflow.Store.
func (s *Store) SetAlert(ctx context.Context, a *workflow.Alert, was workflow.AlertState, out []workflow.Delivery,
	e *workflow.Event) error {
	do := s.tx // what no event tells wakes nobody
	if e != nil || len(out) > 0 {
		do = s.change
	}
	return do(ctx, func(tx *Tx) error {
		err := setAlert(ctx, tx, a, was)
		for i := 0; err == nil && i < len(out); i++ {
			err = insertDelivery(ctx, tx, &out[i])
		}
		if err == nil && e != nil {
			err = addEvent(ctx, tx, *e)
		}
		return err
	})
}

func setAlert(ctx context.Context, tx *Tx, a *workflow.Alert, was workflow.AlertState) error {
	switch {
	case was == workflow.AlertOK:
		return one(tx.ExecContext(ctx,
			`INSERT INTO alerts (rule, subject, state, severity, text, value, workflow, execution, since_at, fired_at, told_at, lock)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO NOTHING`, a.Rule, a.Subject, a.State, a.Severity, a.Text, a.Value, a.Workflow, a.Execution,
			micros(a.Since), micros(a.Fired), micros(a.Told)))
	case a.State == workflow.AlertOK:
		return one(tx.ExecContext(ctx, `DELETE FROM alerts WHERE rule = ? AND subject = ? AND state = ? AND lock = ?`, a.Rule,
			a.Subject, was, a.Lock))
	}
	return one(tx.ExecContext(ctx,
		`UPDATE alerts SET state = ?, severity = ?, text = ?, value = ?, workflow = ?, execution = ?, fired_at = ?, told_at = ?,
		lock = lock + 1 WHERE rule = ? AND subject = ? AND state = ? AND lock = ?`, a.State, a.Severity, a.Text, a.Value, a.Workflow, a.Execution,
		micros(a.Fired), micros(a.Told), a.Rule, a.Subject, was, a.Lock))
}

func insertDelivery(ctx context.Context, tx *Tx, d *workflow.Delivery) error {
	tries, err := json.Marshal(d.Tries)
	if err != nil {
		return err
	}
	_,
		err = tx.ExecContext(ctx,
		`INSERT INTO deliveries (id, channel, rule, subject, type, title, text, data, state, created_at, next_at, tries_left, tries, lock)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`, d.ID, d.Channel, d.Rule, d.Subject, d.Type, d.Title, d.Text, textOrNull(string(d.Data)), d.State,
		micros(d.Created), micros(d.Next), d.Left, string(tries))
	if err == nil {
		_,
			err = tx.ExecContext(ctx,
			`DELETE FROM deliveries WHERE state <> 'due' AND created_at < (SELECT created_at FROM deliveries
			ORDER BY created_at DESC LIMIT 1 OFFSET ?)`, workflow.MaxDeliveries)
	}
	return err
}

// AddDelivery implements workflow.Store.
func (s *Store) AddDelivery(ctx context.Context, d *workflow.Delivery) error {
	d.Lock = 1
	return s.tx(ctx, func(tx *Tx) error { return insertDelivery(ctx, tx, d) })
}

// SetDelivery implements workflow.Store.
func (s *Store) SetDelivery(ctx context.Context, d *workflow.Delivery, was workflow.DeliveryState,
	e *workflow.Event) error {
	tries, err := json.Marshal(d.Tries)
	if err != nil {
		return err
	}
	err = s.change(ctx, func(tx *Tx) error {
		err := one(tx.ExecContext(ctx,
			`UPDATE deliveries SET state = ?, next_at = ?, tries_left = ?, tries = ?, lock = lock + 1
			WHERE id = ? AND state = ? AND lock = ?`, d.State, micros(d.Next), d.Left, string(tries), d.ID, was, d.Lock))
		if err == nil && e != nil {
			err = addEvent(ctx, tx, *e)
		}
		return err
	})
	if err == nil {
		d.Lock++
	}
	return err
}

const deliverySQL = `SELECT id, channel, rule, subject, type, title, text, data, state, created_at, next_at, tries_left, tries, lock FROM deliveries`

func scanDelivery[R interface{ Scan(...any) error }](row R, d *workflow.Delivery) error {
	var data sql.NullString
	err := row.Scan(&d.ID, &d.Channel, &d.Rule, &d.Subject, &d.Type, &d.Title, &d.Text, &data, &d.State,
		moment{&d.Created}, moment{&d.Next}, &d.Left, fromJSON{&d.Tries}, &d.Lock)
	if data.Valid {
		d.Data = json.RawMessage(data.String)
	}
	return err
}

// DueDeliveries implements workflow.Store.
func (s *Store) DueDeliveries(ctx context.Context, now time.Time, limit int) ([]workflow.Delivery, error) {
	rows, err := s.read.QueryContext(ctx, deliverySQL+` WHERE state = 'due' AND next_at <= ? ORDER BY next_at, id LIMIT ?`,
		micros(now), limit)
	out, _, err := gather(rows, err, -1, scanDelivery)
	return out, err
}

// Delivery implements workflow.Store.
func (s *Store) Delivery(ctx context.Context, id string) (*workflow.Delivery, error) {
	var d workflow.Delivery
	if err := scanDelivery(s.read.QueryRowContext(ctx, deliverySQL+` WHERE id = ?`, id), &d); err != nil {
		return nil, missing(err, "delivery %.80q", id)
	}
	return &d, nil
}

// Deliveries implements workflow.Store.
func (s *Store) Deliveries(ctx context.Context, f workflow.DeliveryFilter,
	p workflow.Page) (*workflow.List[workflow.Delivery], error) {
	var q query
	if f.Channel != "" {
		q.and(`channel = ?`, f.Channel)
	}
	if len(f.States) > 0 {
		list := make([]any, len(f.States))
		for i, state := range f.States {
			list[i] = state
		}
		q.and(`state IN (?`+strings.Repeat(", ?", len(list)-1)+`)`, list...)
	}
	if err := q.behind(p.Cursor, "created_at", "id"); err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, deliverySQL+q.text()+` ORDER BY created_at DESC, id DESC LIMIT ?`,
		append(q.args, p.Limit+1)...)
	out := &workflow.List[workflow.Delivery]{}
	var more bool
	out.Items, more, err = gather(rows, err, p.Limit, scanDelivery)
	if more {
		last := &out.Items[len(out.Items)-1]
		out.Next = cursor(last.Created.UnixMicro(), last.ID)
	}
	return out, err
}
