package controlsql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// CreateExecution implements workflow.Store.
func (s *Store) CreateExecution(ctx context.Context, x *workflow.Execution, job *crawl.Job, once string,
	e workflow.Event) error {
	return s.change(ctx, func(tx *Tx) error { return createExecution(ctx, tx, x, job, once, e) })
}

func createExecution(ctx context.Context, tx *Tx, x *workflow.Execution, job *crawl.Job, once string,
	e workflow.Event) error {
	if once != "" {
		err := scanExecution(tx.QueryRowContext(ctx, executionSQL+` WHERE once = ?`, once), x)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	var archived sql.NullInt64
	err := tx.QueryRowContext(ctx,
		`UPDATE workflows SET executions = executions + 1 WHERE id = ? RETURNING slug, executions, archived_at`,
		x.Workflow).Scan(&x.Slug, &x.Number, &archived)
	if err != nil {
		return missing(err, "workflow %s", x.Workflow)
	}
	if archived.Valid {
		return workflow.ErrArchived
	}
	if err := mayStart(ctx, tx, x); err != nil {
		return err
	}
	x.ID, x.Lock = crawl.JobID(fmt.Sprintf("%s-%d", x.Slug, x.Number)), 1
	named := *job
	named.ID = x.ID
	if err := insertExecution(ctx, tx, x, &named, once); err != nil {
		return err
	}
	e.Execution, e.Workflow = x.ID, x.Workflow
	return addEvent(ctx, tx, e)
}

func insertExecution(ctx context.Context, tx *Tx, x *workflow.Execution, job *crawl.Job, once string) error {
	cause, err := asJSON(x.Cause)
	if err != nil {
		return err
	}
	values, err := mutable(x)
	if err != nil {
		return err
	}
	args := append([]any{x.ID, x.Workflow, x.Slug, x.Version, x.Number, cause,
		sql.NullString{String: once, Valid: once != ""}, micros(x.Created), x.Account, x.Lock}, values...)
	_,
		err = tx.ExecContext(ctx,
		`INSERT INTO executions (id, workflow, slug, version, number, cause, once, created_at, account, lock, `+
			strings.Join(mutableColumns, ", ")+`) VALUES (?`+strings.Repeat(", ?", len(args)-1)+`)`, args...)
	if err != nil {
		return err
	}
	text, err := crawl.EncodeJob(job)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO jobs (execution, job) VALUES (?, ?)`, x.ID, string(text))
	return err
}

// mutableColumns are those that Change stores, in the order of mutable.
var mutableColumns = []string{"state", "desired", "braked_by", "reason", "attempt", "epoch", "labels", "note",
	"outcome", "discard", "marks", "stats", "audit", "started_at", "ended_at", "trimmed_at", "bytes"}

func mutable(x *workflow.Execution) ([]any, error) {
	labels, err1 := asJSON(labelsOf(x.Labels))
	marks, err2 := asJSON(x.Marks)
	stats, err3 := asJSON(x.Stats)
	audit, err4 := asJSON(x.Audit)
	return []any{x.State, x.Desired, x.BrakedBy, x.Reason, x.Attempt, x.Epoch, labels, x.Note, x.Outcome, x.Discard, marks,
		stats, audit, micros(x.Started), micros(x.Ended), micros(x.Trimmed), bytesOf(x)}, errors.Join(err1, err2, err3, err4)
}

var changeSQL = `UPDATE executions SET ` + strings.Join(mutableColumns, " = ?, ") + ` = ?, lock = lock + 1
	WHERE id = ? AND state = ? AND lock = ?`

// Change implements workflow.Store.
func (s *Store) Change(ctx context.Context, x *workflow.Execution, from workflow.State,
	events ...workflow.Event) error {
	values, err := mutable(x)
	if err != nil {
		return err
	}
	err = s.change(ctx, func(tx *Tx) error {
		if from.Ended() && !x.State.Ended() {
			if err := mayStart(ctx, tx, x); err != nil {
				return err
			}
		}
		err := one(tx.ExecContext(ctx, changeSQL, append(values, x.ID, from, x.Lock)...))
		for _, e := range events {
			if err == nil {
				e.Execution, e.Workflow = x.ID, x.Workflow
				err = addEvent(ctx, tx, e)
			}
		}
		return err
	})
	if err == nil {
		x.Lock++
	}
	return err
}

const executionSQL = `SELECT id, workflow, slug, version, number, state, desired, braked_by, reason, cause, attempt, epoch, labels, note,
	outcome, discard, marks, stats, audit, created_at, started_at, ended_at, trimmed_at, account, lock FROM executions`

func scanExecution[R interface{ Scan(...any) error }](row R, x *workflow.Execution) error {
	err := row.Scan(&x.ID, &x.Workflow, &x.Slug, &x.Version, &x.Number, &x.State, &x.Desired, &x.BrakedBy, &x.Reason,
		fromJSON{&x.Cause}, &x.Attempt, &x.Epoch, fromJSON{&x.Labels}, &x.Note, &x.Outcome, &x.Discard, fromJSON{&x.Marks},
		fromJSON{&x.Stats}, fromJSON{&x.Audit}, moment{&x.Created}, moment{&x.Started}, moment{&x.Ended}, moment{&x.Trimmed},
		&x.Account, &x.Lock)
	if x.Audit != nil && x.Audit.Faults == nil { // earlier versions stored null where there were none
		x.Audit.Faults = []string{}
	}
	return err
}

// Execution implements workflow.Store.
func (s *Store) Execution(ctx context.Context, id crawl.JobID) (*workflow.Execution, error) {
	var x workflow.Execution
	if err := scanExecution(s.read.QueryRowContext(ctx, executionSQL+` WHERE id = ?`, id), &x); err != nil {
		return nil, missing(err, "execution %.80q", id)
	}
	return &x, nil
}

// Job implements workflow.Store.
func (s *Store) Job(ctx context.Context, id crawl.JobID) (*crawl.Job, error) {
	var text string
	if err := s.read.QueryRowContext(ctx, `SELECT job FROM jobs WHERE execution = ?`, id).Scan(&text); err != nil {
		return nil, missing(err, "execution %.80q", id)
	}
	return crawl.DecodeJob([]byte(text), 0)
}

// Executions implements workflow.Store. What is counted and picked lies in indexes, or in the rows of labels: of the
// executions, which are long, only those of the page are read.
func (s *Store) Executions(ctx context.Context, f workflow.ExecutionFilter,
	p workflow.Page) (*workflow.List[workflow.Execution], error) {
	q, from, id := pick(f)
	out := &workflow.List[workflow.Execution]{}
	if err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM `+from+q.text(), q.args...).Scan(&out.Total); err != nil {
		return nil, err
	}
	if err := q.behind(p.Cursor, "created_at", id); err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx,
		executionSQL+` WHERE id IN (SELECT `+id+` FROM `+from+q.text()+` ORDER BY created_at DESC, `+id+` DESC LIMIT ?)
		ORDER BY created_at DESC, id DESC`, append(q.args, p.Limit+1)...)
	var more bool
	out.Items, more, err = gather(rows, err, p.Limit, scanExecution)
	if more {
		last := &out.Items[len(out.Items)-1]
		out.Next = cursor(last.Created.UnixMicro(), string(last.ID))
	}
	return out, err
}

// pick says which executions a filter means: rows of a table, whose column id names them.
func pick(f workflow.ExecutionFilter) (q query, from, id string) {
	from, id = "executions", "id"
	switch key, value, has := strings.Cut(f.Label, "="); {
	case f.Label == "":
		q.and(`discard NOT LIKE 'all%'`)
	case has:
		from, id = "labels", "execution"
		q.and(`key = ? AND value = ?`, key, value)
	default: // an execution has a key once
		from, id = "labels", "execution"
		q.and(`key = ?`, key)
	}
	if f.Workflow != "" {
		q.and(`workflow = (SELECT id FROM workflows WHERE id = ? OR slug = ?)`, f.Workflow, f.Workflow)
	}
	if len(f.States) > 0 {
		list := make([]any, len(f.States))
		for i, state := range f.States {
			list[i] = state
		}
		q.and(`state IN (?`+strings.Repeat(", ?", len(list)-1)+`)`, list...)
	}
	return q, from, id
}

// Unsettled implements workflow.Store.
func (s *Store) Unsettled(ctx context.Context) ([]workflow.Execution, error) {
	rows, err := s.read.QueryContext(ctx, executionSQL+` WHERE ended_at IS NULL OR discard <> '' ORDER BY created_at, id`)
	out, _, err := gather(rows, err, -1, scanExecution)
	return out, err
}

// Remove implements workflow.Store.
func (s *Store) Remove(ctx context.Context, id crawl.JobID, e workflow.Event) error {
	return s.change(ctx, func(tx *Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT workflow FROM executions WHERE id = ?`, id).Scan(&e.Workflow)
		if err != nil {
			return missing(err, "execution %.80q", id)
		}
		for _, statement := range []string{`DELETE FROM events WHERE execution = ?`, `DELETE FROM executions WHERE id = ?`} {
			if _, err := tx.ExecContext(ctx, statement, id); err != nil {
				return err
			}
		}
		return addEvent(ctx, tx, e)
	})
}
