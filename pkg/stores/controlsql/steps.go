package controlsql

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Steps implements workflow.Store.
func (s *Store) Steps(ctx context.Context, id crawl.JobID, attempt int) ([]workflow.Step, error) {
	rows, err := s.read.QueryContext(ctx,
		`SELECT name, state, result, at FROM steps WHERE execution = ? AND attempt = ? ORDER BY place`,
		id, attempt)
	out, _, err := gather(rows, err, -1, func(r *sql.Rows, step *workflow.Step) error {
		var result sql.NullString
		err := r.Scan(&step.Name, &step.State, &result, moment{&step.At})
		if result.Valid {
			step.Result = json.RawMessage(result.String)
		}
		return err
	})
	return out, err
}

// SetStep implements workflow.Store.
func (s *Store) SetStep(ctx context.Context, id crawl.JobID, attempt int, step workflow.Step) error {
	return s.tx(ctx, func(tx *Tx) error {
		_,
			err := tx.ExecContext(ctx,
			`INSERT INTO steps (execution, attempt, name, place, state, result, at) VALUES (?1, ?2, ?3,
			(SELECT count(*) FROM steps WHERE execution = ?1 AND attempt = ?2), ?4, ?5, ?6)
			ON CONFLICT (execution, attempt, name) DO UPDATE SET state = excluded.state, result = excluded.result, at = excluded.at`,
			id, attempt, step.Name, step.State, textOrNull(string(step.Result)), micros(step.At))
		return err
	})
}
