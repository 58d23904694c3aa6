package controlsql

import (
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// query is a statement that is put together.
type query struct {
	where []string
	args  []any
}

func (q *query) and(cond string, args ...any) {
	q.where, q.args = append(q.where, cond), append(q.args, args...)
}

func (q *query) text() string {
	if len(q.where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(q.where, " AND ")
}

// label keeps the rows that have a label: key or key=value.
func (q *query) label(d *Dialect, column, label string) {
	key, value, has := strings.Cut(label, "=")
	switch {
	case label == "":
	case has:
		q.and(d.LabelIs(column), key, value)
	default:
		q.and(d.HasLabel(column), key)
	}
}

// cursor is where a list goes on: behind a sort key and an id.
func cursor(key int64, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(key, 36) + " " + id))
}

func parseCursor(text string) (key int64, id string, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		var number string
		number, id, _ = strings.Cut(string(data), " ")
		key, err = strconv.ParseInt(number, 36, 64)
	}
	if err != nil {
		return 0, "", &workflow.Invalid{Faults: []workflow.Fault{{Key: "cursor",
			Message: "the cursor is none that a list gave: leave it out to begin from the start"}}}
	}
	return key, id, nil
}

// behind keeps what comes after a cursor, the newest first.
func (q *query) behind(text, key, id string) error {
	if text == "" {
		return nil
	}
	at, last, err := parseCursor(text)
	if err == nil {
		q.and(fmt.Sprintf("(%s, %s) < (?, ?)", key, id), at, last)
	}
	return err
}

// gather reads rows into a list of up to limit; more: there were further ones.
func gather[T any](rows *sql.Rows, err error, limit int,
	read func(*sql.Rows, *T) error) (items []T, more bool, _ error) {
	if err != nil {
		return nil, false, err
	}
	items = []T{}
	for rows.Next() {
		if len(items) == limit {
			more = true
			break
		}
		var item T
		if err := read(rows, &item); err != nil {
			return nil, false, errors.Join(err, rows.Close())
		}
		items = append(items, item)
	}
	return items, more, errors.Join(rows.Err(), rows.Close())
}

// missing turns "no rows" into ErrNotFound.
func missing(err error, format string, args ...any) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), workflow.ErrNotFound)
	}
	return err
}

// one reports ErrStale unless a statement changed one row.
func one(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return workflow.ErrStale
}
