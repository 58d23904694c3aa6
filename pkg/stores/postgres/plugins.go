package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
)

// Plugins keeps what the repository of plug-ins of a cluster is made of: values by names. Each method is a transaction.
type Plugins struct{ s *Store }

// Plugins returns the repository of plug-ins.
func (s *Store) Plugins() *Plugins { return &Plugins{s} }

// String says where it is, for people.
func (p *Plugins) String() string { return "the cluster's database" }

// Get returns a value. The error is fs.ErrNotExist where there is none.
func (p *Plugins) Get(ctx context.Context, name string) (data []byte, err error) {
	err = p.s.do(ctx, "read "+name+" of the plug-ins", func(ctx context.Context) error {
		return p.s.pool.QueryRow(ctx, `SELECT data FROM plugins WHERE name = $1`, name).Scan(&data)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return data, err
}

// Add stores a value that is not there yet. The error is fs.ErrExist where there is one: of those that add under one
// name at a time, one succeeds.
func (p *Plugins) Add(ctx context.Context, name string, data []byte) error {
	n, err := p.store(ctx, name, data, `INSERT INTO plugins (name, data) VALUES ($1, $2) ON CONFLICT DO NOTHING`)
	if err == nil && n == 0 {
		return fmt.Errorf("%s: %w", name, fs.ErrExist)
	}
	return err
}

// Set stores a value, over the one that may be there.
func (p *Plugins) Set(ctx context.Context, name string, data []byte) error {
	_, err := p.store(ctx, name, data, `INSERT INTO plugins (name, data) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET data = excluded.data`)
	return err
}

func (p *Plugins) store(ctx context.Context, name string, data []byte, sql string) (rows int64, err error) {
	if data == nil {
		data = []byte{}
	}
	err = p.s.do(ctx, "store "+name+" of the plug-ins", func(ctx context.Context) error {
		tag, err := p.s.pool.Exec(ctx, sql, name, data)
		rows = tag.RowsAffected()
		return err
	})
	return rows, err
}

// Names returns the names that begin with prefix, in their order.
func (p *Plugins) Names(ctx context.Context, prefix string) (names []string, err error) {
	err = p.s.do(ctx, "list the plug-ins", func(ctx context.Context) error {
		rows, err := p.s.pool.Query(ctx, `SELECT name FROM plugins WHERE starts_with(name, $1) ORDER BY name`, prefix)
		if err == nil {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return names, err
}
