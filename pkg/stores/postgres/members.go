package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Members decides whose writes are accepted: for each node, those of one registration, made under a ring table that is
// recent enough. Each server that is written to decides for itself, and a change has come about when all know of it.
type Members struct{ s *Store }

// Members returns the members.
func (s *Store) Members() *Members { return &Members{s} }

// Enter makes the writes of a registration valid, from the epoch of the newest Raise on, and ends those of the node's
// registration before: none of them is running any more when Enter returns. A repeated call changes nothing. It returns
// ring.ErrFenced if this registration has ended or the node has a later one.
func (m *Members) Enter(ctx context.Context, k ring.Token) error {
	if err := ring.CheckName(k.Node); err != nil {
		return fmt.Errorf("enter the ring: %w", err)
	}
	return m.s.everywhere(func(at *Store) error { return (&Members{at}).enter(ctx, k) })
}

func (m *Members) enter(ctx context.Context, k ring.Token) error {
	what := fmt.Sprintf("enter node %s, incarnation %d, into the ring", k.Node, k.Incarnation)
	return m.s.do(ctx, what, func(ctx context.Context) error {
		var counts bool
		err := m.s.pool.QueryRow(ctx, `SELECT enter($1, $2, $3)`, k.Node, int64(k.Incarnation), int64(k.Epoch)).Scan(&counts)
		if err == nil && !counts {
			return ring.ErrFenced
		}
		return err
	})
}

const (
	membersSQL = `SELECT node, incarnation, entered, floor, fenced FROM members ORDER BY node`
	floorSQL   = `UPDATE members SET floor = $1 WHERE node = '' AND floor < $1`
	refuseSQL  = `SELECT refuse($1, $2, $3, $4)`
)

// Raise rejects, once it has returned, all writes under an older table than t, and all writes of registrations that
// entered by t's epoch and are not members in t. It returns when every write admitted before has ended. A repeated call
// changes nothing and costs one look at the table.
//
// It changes the rows one by one, so that no node's writes wait for those of another.
func (m *Members) Raise(ctx context.Context, t *ring.Table) error {
	return m.s.everywhere(func(at *Store) error { return (&Members{at}).raise(ctx, t) })
}

func (m *Members) raise(ctx context.Context, t *ring.Table) error {
	epoch := int64(t.Epoch())
	rows, err := m.rows(ctx)
	if err != nil {
		return err
	}
	if len(rows) == 0 || rows[0].floor < epoch { // the ring's own is first; whoever enters from now on begins there
		err := m.s.do(ctx, fmt.Sprintf("raise the ring to epoch %d", epoch), func(ctx context.Context) error {
			_, err := m.s.pool.Exec(ctx, floorSQL, epoch)
			return err
		})
		if err != nil {
			return err
		}
		if rows, err = m.rows(ctx); err != nil {
			return err
		}
	}
	return m.refuse(ctx, t, rows)
}

type memberRow struct {
	node                        string
	incarnation, entered, floor int64
	fenced                      bool
}

// over reports whether t knows that the registration is over.
func (r *memberRow) over(t *ring.Table) bool {
	n, known := t.Node(r.node)
	return r.entered <= int64(t.Epoch()) && (!known || n.Incarnation != uint64(r.incarnation))
}

// refuse changes the rows that t asks to, those of the dead first.
func (m *Members) refuse(ctx context.Context, t *ring.Table, rows []memberRow) error {
	epoch := int64(t.Epoch())
	rows = slices.DeleteFunc(rows,
		func(r memberRow) bool { return r.node == "" || r.fenced || !r.over(t) && r.floor >= epoch })
	slices.SortStableFunc(rows, func(a, b memberRow) int { return cmp.Compare(order(b.over(t)), order(a.over(t))) })
	for _, r := range rows {
		over := r.over(t)
		what := fmt.Sprintf("raise node %s to epoch %d", r.node, epoch)
		err := m.s.do(ctx, what, func(ctx context.Context) error {
			_, err := m.s.pool.Exec(ctx, refuseSQL, r.node, r.incarnation, epoch, over)
			return err
		})
		if err != nil {
			return err
		}
		if over {
			m.s.log.Info("the writes of a node are refused from now on", "node", r.node, "incarnation", r.incarnation,
				"epoch", epoch)
		}
	}
	return nil
}

func order(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *Members) rows(ctx context.Context) (list []memberRow, err error) {
	err = m.s.do(ctx, "read the members of the ring", func(ctx context.Context) error {
		rows, err := m.s.pool.Query(ctx, membersSQL)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r memberRow, err error) {
			return r, row.Scan(&r.node, &r.incarnation, &r.entered, &r.floor, &r.fenced)
		})
		return err
	})
	return list, err
}

// Connected returns which of the programs are connected to the database as the user of this store, by the names of
// their connections and with their number: "2 of fetcher".
func (m *Members) Connected(ctx context.Context, programs ...string) (names []string, err error) {
	err = m.s.do(ctx, "look for programs that are connected", func(ctx context.Context) error {
		names, err = connected(ctx, m.s.pool, "", programs...)
		return err
	})
	return names, err
}

// connected lists the connections of our user to a database, by name and with their number: those of the names, or,
// where none is given, all but one name. Of other users PostgreSQL tells too little.
func connected(ctx context.Context, pool *pgxpool.Pool, but string, names ...string) ([]string, error) {
	const sql = `SELECT count(*) || ' of ' || coalesce(nullif(application_name, ''), 'no name') FROM pg_stat_activity
		WHERE datname = current_database() AND usename = current_user AND backend_type = 'client backend'
			AND application_name <> $1 AND (cardinality($2::text[]) = 0 OR application_name = ANY($2))
		GROUP BY application_name ORDER BY application_name`
	rows, err := pool.Query(ctx, sql, but, append([]string{}, names...))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Reset deletes all members. Use it for a ring that was created anew, whose epochs start again, when no node of the old
// ring runs any more.
func (m *Members) Reset(ctx context.Context) error {
	return m.s.everywhere(func(at *Store) error { return (&Members{at}).reset(ctx) })
}

func (m *Members) reset(ctx context.Context) error {
	return m.s.do(ctx, "forget the members of the ring", func(ctx context.Context) error {
		const sql = `WITH gone AS (DELETE FROM members WHERE node <> '') UPDATE members SET floor = 0 WHERE node = ''`
		_, err := m.s.pool.Exec(ctx, sql)
		return err
	})
}
