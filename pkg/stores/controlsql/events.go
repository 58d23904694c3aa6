package controlsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// foldAtOnce is how many events are folded together, so that most events cost no folding.
const foldAtOnce = 500

// addEvent stores an event with the next number of its execution.
func addEvent(ctx context.Context, tx *Tx, e workflow.Event) error {
	var seq, kept sql.NullInt64
	if e.Execution != "" {
		err := tx.QueryRowContext(ctx, `UPDATE executions SET seq = seq + 1 WHERE id = ? RETURNING seq, seq - folded`,
			e.Execution).Scan(&seq, &kept)
		if err != nil {
			return missing(err, "execution %.80q", e.Execution)
		}
	}
	_,
		err := tx.ExecContext(ctx,
		`INSERT INTO events (execution, workflow, seq, at, type, actor, data) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		textOrNull(string(e.Execution)), textOrNull(string(e.Workflow)), seq, micros(e.At), e.Type, e.Actor,
		textOrNull(string(e.Data)))
	if err == nil && kept.Int64 > workflow.MaxEvents {
		err = fold(ctx, tx, e.Execution)
	}
	return err
}

// fold counts the oldest events of an execution and deletes them.
func fold(ctx context.Context, tx *Tx, id crawl.JobID) error {
	if _, err := tx.ExecContext(ctx, `UPDATE executions SET folded = folded + ? WHERE id = ?`, foldAtOnce,
		id); err != nil {
		return err
	}
	for _, statement := range []string{
		`INSERT INTO folded (execution, type, count) SELECT execution, type, count(*) FROM events
			WHERE execution = ?1 AND seq <= (SELECT folded FROM executions WHERE id = ?1) GROUP BY execution, type
			ON CONFLICT (execution, type) DO UPDATE SET count = folded.count + excluded.count`,
		`DELETE FROM events WHERE execution = ?1 AND seq <= (SELECT folded FROM executions WHERE id = ?1)`,
	} {
		if _, err := tx.ExecContext(ctx, statement, id); err != nil {
			return err
		}
	}
	return nil
}

func textOrNull(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// AddEvent implements workflow.Store.
func (s *Store) AddEvent(ctx context.Context, e workflow.Event) error {
	return s.change(ctx, func(tx *Tx) error {
		if e.Execution != "" && e.Workflow == "" {
			err := tx.QueryRowContext(ctx, `SELECT workflow FROM executions WHERE id = ?`, e.Execution).Scan(&e.Workflow)
			if err != nil {
				return missing(err, "execution %.80q", e.Execution)
			}
		}
		return addEvent(ctx, tx, e)
	})
}

// Events implements workflow.Store.
func (s *Store) Events(ctx context.Context, f workflow.EventFilter, after int64, limit int) ([]workflow.Event, error) {
	order := ``
	if f.Last {
		order = ` DESC`
	}
	q := picked(f, after, order, limit)
	rows, err := s.read.QueryContext(ctx,
		`SELECT id, execution, workflow, seq, at, type, actor, data FROM events`+q.text()+
			` ORDER BY id`+order+` LIMIT ?`, append(q.args, limit)...)
	out, _, err := gather(rows, err, -1, scanEvent)
	if f.Last {
		slices.Reverse(out)
	}
	return out, err
}

// picked says which events a filter means. Those of types over all executions are found by the index of types, each
// type's first ones: they may be rare. Within an execution or a workflow the order of ids finds some of most types at
// once.
func picked(f workflow.EventFilter, after int64, order string, limit int) (q query) {
	q.and(`id > ?`, after)
	if f.Execution != "" {
		q.and(`execution = ?`, f.Execution)
	}
	if f.Workflow != "" {
		q.and(`workflow = ?`, f.Workflow)
	}
	if len(f.Types) == 0 {
		return q
	}
	args, parts := []any{}, []string{}
	if f.Execution != "" || f.Workflow != "" {
		for _, t := range f.Types {
			args = append(args, t)
		}
		q.and(`(type || '') IN (?`+strings.Repeat(", ?", len(args)-1)+`)`, args...)
		return q
	}
	for i, t := range f.Types {
		parts = append(parts, fmt.Sprintf(
			`SELECT id FROM (SELECT id FROM events WHERE type = ? AND id > ? ORDER BY id%s LIMIT ?) t%d`, order, i))
		args = append(args, t, after, limit)
	}
	q.and(`id IN (`+strings.Join(parts, ` UNION ALL `)+`)`, args...)
	return q
}

func scanEvent(row *sql.Rows, e *workflow.Event) error {
	var execution, of, data sql.NullString
	var seq sql.NullInt64
	err := row.Scan(&e.ID, &execution, &of, &seq, moment{&e.At}, &e.Type, &e.Actor, &data)
	e.Execution, e.Workflow, e.Seq = crawl.JobID(execution.String), workflow.ID(of.String), int(seq.Int64)
	if data.Valid {
		e.Data = json.RawMessage(data.String)
	}
	return err
}

// Folded implements workflow.Store.
func (s *Store) Folded(ctx context.Context, id crawl.JobID) (map[string]int64, error) {
	type count struct {
		kind string
		n    int64
	}
	rows, err := s.read.QueryContext(ctx, `SELECT type, count FROM folded WHERE execution = ?`, id)
	list, _, err := gather(rows, err, -1, func(r *sql.Rows, c *count) error { return r.Scan(&c.kind, &c.n) })
	out := make(map[string]int64, len(list))
	for _, c := range list {
		out[c.kind] = c.n
	}
	return out, err
}
