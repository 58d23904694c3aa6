package controlsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// Value implements workflow.Values.
func (s *Store) Value(ctx context.Context, section, key string) (value []byte, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT value FROM settings WHERE section = ? AND key = ?`, section, key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return value, err
}

// SetValue implements workflow.Values.
func (s *Store) SetValue(ctx context.Context, section, key string, value []byte) error {
	if value == nil {
		_, err := s.write.ExecContext(ctx, `DELETE FROM settings WHERE section = ? AND key = ?`, section, key)
		return err
	}
	_, err := s.write.ExecContext(ctx, `INSERT INTO settings (section, key, value) VALUES (?, ?, ?)
		ON CONFLICT (section, key) DO UPDATE SET value = excluded.value`, section, key, value)
	return err
}

// SwapValue implements workflow.Values.
func (s *Store) SwapValue(ctx context.Context, section, key string, was, value []byte) error {
	switch {
	case was == nil && value == nil:
		return nil
	case was == nil:
		return one(s.write.ExecContext(ctx, `INSERT INTO settings (section, key, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, section, key, value))
	case value == nil:
		return one(s.write.ExecContext(ctx, `DELETE FROM settings WHERE section = ? AND key = ? AND value = ?`, section, key, was))
	}
	return one(s.write.ExecContext(ctx, `UPDATE settings SET value = ? WHERE section = ? AND key = ? AND value = ?`, value, section, key, was))
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
	return string(data), nil
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
