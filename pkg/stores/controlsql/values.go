package controlsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Value implements workflow.Values.
func (s *Store) Value(ctx context.Context, section, key string) (value []byte, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT value FROM settings WHERE section = ? AND key = ?`, section,
		key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return value, err
}

// SetValue implements workflow.Values.
func (s *Store) SetValue(ctx context.Context, section, key string, value []byte) error {
	if value == nil {
		return s.exec(ctx, false, `DELETE FROM settings WHERE section = ? AND key = ?`, section, key)
	}
	return s.exec(ctx, false, `INSERT INTO settings (section, key, value) VALUES (?, ?, ?)
		ON CONFLICT (section, key) DO UPDATE SET value = excluded.value`, section, key, value)
}

// SwapValue implements workflow.Values.
func (s *Store) SwapValue(ctx context.Context, section, key string, was, value []byte) error {
	switch {
	case was == nil && value == nil:
		return nil
	case was == nil:
		return s.exec(ctx, true, `INSERT INTO settings (section, key, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
			section, key, value)
	case value == nil:
		return s.exec(ctx, true, `DELETE FROM settings WHERE section = ? AND key = ? AND value = ?`, section, key, was)
	}
	return s.exec(ctx, true, `UPDATE settings SET value = ? WHERE section = ? AND key = ? AND value = ?`, value, section,
		key, was)
}

// exec executes a statement that is a whole change, with the entry of the audit log that the context has. ErrStale
// where it must change a row and changes none.
func (s *Store) exec(ctx context.Context, must bool, statement string, args ...any) error {
	run := func(w writer) error {
		result, err := w.ExecContext(ctx, statement, args...)
		if must {
			return one(result, err)
		}
		return err
	}
	if !workflow.AuditWaits(ctx) {
		return run(s.write) // a transaction of its own
	}
	return s.tx(ctx, func(tx *Tx) error { return run(tx) })
}

// EachValue implements workflow.Values.
func (s *Store) EachValue(ctx context.Context, section string, each func(key string, value []byte) error) (err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT key, value FROM settings WHERE section = ? ORDER BY key`, section)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var key string
		var value []byte
		if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		if err := each(key, value); err != nil {
			return err
		}
	}
	return rows.Err()
}

// micros is a time as the file has it.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// moment reads a time.
type moment struct{ to *time.Time }

// Scan implements sql.Scanner.
func (m moment) Scan(v any) error {
	*m.to = time.Time{}
	if n, ok := v.(int64); ok {
		*m.to = time.UnixMicro(n).UTC()
	}
	return nil
}

// asJSON is a value as the file has it; NULL for a nil pointer.
func asJSON(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil || string(data) == "null" {
		return nil, err
	}
	return plainJSON(string(data)), nil
}

// fromJSON reads JSON.
type fromJSON struct{ to any }

// Scan implements sql.Scanner.
func (j fromJSON) Scan(v any) error {
	if s, ok := v.(string); ok {
		return json.Unmarshal([]byte(s), j.to)
	}
	return nil
}

func labelsOf(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return labels
}
