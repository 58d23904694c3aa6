package controlsql

import (
	"context"
	"database/sql"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// CreateWorkflow implements workflow.Store.
func (s *Store) CreateWorkflow(ctx context.Context, w *workflow.Workflow, v *workflow.Version, e workflow.Event) error {
	labels, err := asJSON(labelsOf(w.Labels))
	if err != nil {
		return err
	}
	e.Workflow = w.ID
	return s.change(ctx, func(tx *Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO workflows (id, slug, name, labels, current, created_at, lock)
			VALUES (?, ?, ?, ?, ?, ?, ?)`, w.ID, w.Slug, w.Name, labels, w.Current, micros(w.Created), w.Lock)
		if s.dialect.Twice(err) {
			return workflow.ErrTaken
		}
		if err == nil {
			err = insertVersion(ctx, tx, v)
		}
		if err == nil {
			err = addEvent(ctx, tx, e)
		}
		return err
	})
}

// UpdateWorkflow implements workflow.Store.
func (s *Store) UpdateWorkflow(ctx context.Context, w *workflow.Workflow, e workflow.Event) error {
	labels, err := asJSON(labelsOf(w.Labels))
	if err != nil {
		return err
	}
	e.Workflow = w.ID
	err = s.change(ctx, func(tx *Tx) error {
		err := one(tx.ExecContext(ctx, `UPDATE workflows SET name = ?, labels = ?, archived_at = ?, lock = lock + 1
			WHERE id = ? AND lock = ?`, w.Name, labels, micros(w.Archived), w.ID, w.Lock))
		if err == nil {
			err = addEvent(ctx, tx, e)
		}
		return err
	})
	if err == nil {
		w.Lock++
	}
	return err
}

// workflowSQL reads workflows with their last executions.
const workflowSQL = `SELECT w.id, w.slug, w.name, w.labels, w.current, w.executions, w.archived_at, w.created_at, w.lock, x.id
	FROM workflows w LEFT JOIN executions x ON x.id = (SELECT l.id FROM executions l
		WHERE l.workflow = w.id AND l.discard NOT LIKE 'all%' ORDER BY l.number DESC LIMIT 1)`

// listed is a workflow and the id of its last execution.
type listed struct {
	workflow.Workflow
	last sql.NullString
}

func scanWorkflow(row interface{ Scan(...any) error }, w *listed) error {
	return row.Scan(&w.ID, &w.Slug, &w.Name, fromJSON{&w.Labels}, &w.Current, &w.Executions, moment{&w.Archived},
		moment{&w.Created}, &w.Lock, &w.last)
}

// Workflow implements workflow.Store.
func (s *Store) Workflow(ctx context.Context, id string) (*workflow.Workflow, error) {
	column := "slug"
	if strings.HasPrefix(id, "wf_") { // no slug has _
		column = "id"
	}
	var w listed
	if err := scanWorkflow(s.read.QueryRowContext(ctx, workflowSQL+` WHERE w.`+column+` = ?`, id), &w); err != nil {
		return nil, missing(err, "workflow %.80q", id)
	}
	return &w.Workflow, s.lasts(ctx, []*listed{&w})
}

// lasts adds the last executions.
func (s *Store) lasts(ctx context.Context, list []*listed) error {
	q := query{}
	at := map[string]*listed{}
	for _, w := range list {
		if w.last.Valid {
			at[w.last.String] = w
			q.args = append(q.args, w.last.String)
		}
	}
	if len(q.args) == 0 {
		return nil
	}
	rows, err := s.read.QueryContext(ctx, executionSQL+` WHERE id IN (?`+strings.Repeat(", ?", len(q.args)-1)+`)`,
		q.args...)
	found, _, err := gather(rows, err, len(q.args)+1, scanExecution)
	for i := range found {
		at[string(found[i].ID)].Last = &found[i]
	}
	return err
}

// escaped makes a text part of a pattern of LIKE.
var escaped = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Workflows implements workflow.Store.
func (s *Store) Workflows(ctx context.Context, f workflow.Filter,
	p workflow.Page) (*workflow.List[workflow.Workflow], error) {
	var q query
	if !f.Archived {
		q.and(`w.archived_at IS NULL`)
	}
	if f.Query != "" {
		part := "%" + escaped.Replace(strings.ToLower(f.Query)) + "%"
		q.and(`(lower(w.name) LIKE ? ESCAPE '\' OR w.slug LIKE ? ESCAPE '\')`, part, part)
	}
	q.label(s.dialect, "w.labels", f.Label)
	out := &workflow.List[workflow.Workflow]{Items: []workflow.Workflow{}}
	if err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM workflows w`+q.text(),
		q.args...).Scan(&out.Total); err != nil {
		return nil, err
	}
	if err := q.behind(p.Cursor, "w.created_at", "w.id"); err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, workflowSQL+q.text()+` ORDER BY w.created_at DESC, w.id DESC LIMIT ?`,
		append(q.args, p.Limit+1)...)
	found, more, err := gather(rows, err, p.Limit, func(r *sql.Rows, w *listed) error { return scanWorkflow(r, w) })
	if err != nil {
		return nil, err
	}
	list := make([]*listed, len(found))
	for i := range found {
		list[i] = &found[i]
	}
	if err := s.lasts(ctx, list); err != nil {
		return nil, err
	}
	for i := range found {
		out.Items = append(out.Items, found[i].Workflow)
	}
	if more {
		last := &out.Items[len(out.Items)-1]
		out.Next = cursor(last.Created.UnixMicro(), string(last.ID))
	}
	return out, nil
}
