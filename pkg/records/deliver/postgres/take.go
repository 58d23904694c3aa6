package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

// Take implements deliver.Receiver: one transaction.
func (r *Receiver) Take(ctx context.Context, b *deliver.Batch) error {
	return r.connected(ctx, func(c *pgx.Conn) error {
		err := r.insert(ctx, c, b.First, b.Rows)
		if !refused(err) {
			return err
		}
		for i := range b.Rows { // one of them is such as the database does not take
			if err := r.insertOne(ctx, c, b.First+int64(i), b.Rows[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	})
}

// insertOne stores a row; one that the database does not take without its record, and with the reason.
func (r *Receiver) insertOne(ctx context.Context, c *pgx.Conn, number int64, row []deliver.Row) error {
	err := r.insert(ctx, c, number, row)
	if !refused(err) {
		return err
	}
	_, err = c.Exec(ctx, "INSERT INTO "+r.table+" (output, number, url, fetched_at, fault) VALUES ($1, $2, $3, $4, $5)"+
		" ON CONFLICT (output, number) DO UPDATE SET url = excluded.url, fetched_at = excluded.fetched_at, record = NULL, "+
		"fault = excluded.fault",
		r.output, number, row[0].URL, time.UnixMilli(row[0].FetchedMS), told(err))
	return err
}

// refused reports whether the database says that it cannot hold such a value (class 22), or that it is too long (54).
func refused(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "54"))
}

func (r *Receiver) insert(ctx context.Context, c *pgx.Conn, first int64, rows []deliver.Row) error {
	numbers, urls := make([]int64, len(rows)), make([]string, len(rows))
	times, records := make([]time.Time, len(rows)), make([]string, len(rows))
	for i := range rows {
		numbers[i], urls[i], times[i] = first+int64(i), rows[i].URL, time.UnixMilli(rows[i].FetchedMS)
		records[i] = string(storable(rows[i].JSON))
	}
	_, err := c.Exec(ctx, "INSERT INTO "+r.table+" (output, number, url, fetched_at, record)"+
		" SELECT $1, n, u, t, j::jsonb FROM unnest($2::bigint[], $3::text[], $4::timestamptz[], $5::text[]) AS rows (n, u, "+
		"t, j)"+
		" ON CONFLICT (output, number) DO UPDATE SET url = excluded.url, fetched_at = excluded.fetched_at, record = "+
		"excluded.record, fault = NULL",
		r.output, numbers, urls, times, records)
	return err
}

// storable is JSON that the database takes: it has no text with the character NUL, nor halves of characters.
func storable(row []byte) []byte {
	if !bytes.Contains(row, []byte(`\u`)) {
		return row
	}
	dec := json.NewDecoder(bytes.NewReader(row))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return row
	}
	out, err := json.Marshal(withoutNUL(v))
	if err != nil {
		return row
	}
	return out
}

func withoutNUL(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "\x00", "�")
	case []any:
		for i := range v {
			v[i] = withoutNUL(v[i])
		}
	case map[string]any:
		for key, value := range v {
			clean := strings.ReplaceAll(key, "\x00", "�")
			if clean != key {
				delete(v, key)
			}
			v[clean] = withoutNUL(value)
		}
	}
	return v
}
