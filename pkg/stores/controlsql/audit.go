package controlsql

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// trimEvery is how many entries of the audit log go by between two looks for those that are too many.
const trimEvery = 1000

// AddAudit implements workflow.Store.
func (s *Store) AddAudit(ctx context.Context, a *workflow.Audit) error {
	return addAudit(ctx, s.write, a)
}

// writer is a connection, or a transaction of one.
type writer interface {
	QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
}

func addAudit(ctx context.Context, w writer, a *workflow.Audit) error {
	err := w.QueryRowContext(ctx,
		`INSERT INTO audit (at, actor, via, role, source, method, path, action, status, request, change)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`, micros(a.At), a.Actor, a.Via, a.Role, a.From, a.Method, a.Path, a.Action, a.Status, a.Request,
		textOrNull(string(a.Change))).Scan(&a.ID)
	if err == nil && a.ID%trimEvery == 0 {
		_, err = w.ExecContext(ctx, `DELETE FROM audit WHERE id <= ?`, a.ID-workflow.MaxAudits)
	}
	return err
}

// Audits implements workflow.Store.
func (s *Store) Audits(ctx context.Context, f workflow.AuditFilter,
	p workflow.Page) (*workflow.List[workflow.Audit], error) {
	var q query
	if f.Actor != "" {
		q.and(`actor = ?`, f.Actor)
	}
	if f.Action != "" {
		q.and(`action = ?`, f.Action)
	}
	if f.Refused {
		q.and(`status IN (401, 403, 429)`)
	}
	if !f.Since.IsZero() {
		q.and(`at >= ?`, micros(f.Since))
	}
	if !f.Until.IsZero() {
		q.and(`at < ?`, micros(f.Until))
	}
	if p.Cursor != "" {
		id, _, err := parseCursor(p.Cursor)
		if err != nil {
			return nil, err
		}
		q.and(`id < ?`, id)
	}
	rows, err := s.read.QueryContext(ctx,
		`SELECT id, at, actor, via, role, source, method, path, action, status, request, change FROM audit`+q.text()+
			` ORDER BY id DESC LIMIT ?`, append(q.args, p.Limit+1)...)
	out := &workflow.List[workflow.Audit]{}
	var more bool
	out.Items, more, err = gather(rows, err, p.Limit, scanAudit)
	if more {
		out.Next = cursor(out.Items[len(out.Items)-1].ID, "")
	}
	return out, err
}

func scanAudit(row *sql.Rows, a *workflow.Audit) error {
	var change sql.NullString
	err := row.Scan(&a.ID, moment{&a.At}, &a.Actor, &a.Via, &a.Role, &a.From, &a.Method, &a.Path, &a.Action, &a.Status,
		&a.Request, &change)
	if change.Valid {
		a.Change = json.RawMessage(change.String)
	}
	return err
}
