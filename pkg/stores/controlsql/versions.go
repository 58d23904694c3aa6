package controlsql

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func insertVersion(ctx context.Context, tx *Tx, v *workflow.Version) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO versions
		(workflow, number, source, definition, sha256, author, message, parent, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.Workflow, v.Number, v.Source, string(v.Definition), v.SHA256, v.Author, v.Message, v.Parent, micros(v.Created))
	return err
}

// AddVersion implements workflow.Store.
func (s *Store) AddVersion(ctx context.Context, v *workflow.Version, current int, e workflow.Event) error {
	v.Number = current + 1
	e.Workflow = v.Workflow
	return s.change(ctx, func(tx *Tx) error {
		err := one(tx.ExecContext(ctx, `UPDATE workflows SET current = ?, lock = lock + 1 WHERE id = ? AND current = ?`,
			v.Number, v.Workflow, current))
		if err == nil {
			err = insertVersion(ctx, tx, v)
		}
		if err == nil {
			err = addEvent(ctx, tx, e)
		}
		return err
	})
}

const versionSQL = `SELECT workflow, number, source, definition, sha256, author, message, parent, created_at FROM versions`

func scanVersion(row interface{ Scan(...any) error }, v *workflow.Version) error {
	var definition string
	err := row.Scan(&v.Workflow, &v.Number, &v.Source, &definition, &v.SHA256, &v.Author, &v.Message, &v.Parent,
		moment{&v.Created})
	v.Definition = json.RawMessage(definition)
	return err
}

// Version implements workflow.Store.
func (s *Store) Version(ctx context.Context, id workflow.ID, number int) (*workflow.Version, error) {
	var v workflow.Version
	err := scanVersion(s.read.QueryRowContext(ctx, versionSQL+` WHERE workflow = ? AND number = ?`, id, number), &v)
	if err != nil {
		return nil, missing(err, "version %d", number)
	}
	return &v, nil
}

// Versions implements workflow.Store.
func (s *Store) Versions(ctx context.Context, id workflow.ID,
	p workflow.Page) (*workflow.List[workflow.Version], error) {
	var q query
	q.and(`workflow = ?`, id)
	out := &workflow.List[workflow.Version]{}
	err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM versions`+q.text(), q.args...).Scan(&out.Total)
	if err != nil {
		return nil, err
	}
	if p.Cursor != "" {
		number, _, err := parseCursor(p.Cursor)
		if err != nil {
			return nil, err
		}
		q.and(`number < ?`, number)
	}
	rows, err := s.read.QueryContext(ctx, versionSQL+q.text()+` ORDER BY number DESC LIMIT ?`,
		append(q.args, p.Limit+1)...)
	var more bool
	out.Items, more, err = gather(rows, err, p.Limit,
		func(r *sql.Rows, v *workflow.Version) error { return scanVersion(r, v) })
	if more {
		out.Next = cursor(int64(out.Items[len(out.Items)-1].Number), "")
	}
	return out, err
}
