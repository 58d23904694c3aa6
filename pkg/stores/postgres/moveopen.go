package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// opened is a database of a move.
type opened struct {
	*Store
	key  int64         // of an advisory lock that says which database it is
	conn *pgxpool.Conn // has that lock
}

// moveLock is the advisory lock of whoever moves the ledger.
const moveLock = migrationLock + 3

// moverName begins the application_name of the connections. Each run has another name.
const moverName = "whirlpool ledger move "

// open connects to all databases, and keeps others from moving the ledger. It changes nothing but the main server's
// schema, as every program does.
func (m *mover) open(ctx context.Context) (err error) {
	m.nameRun()
	list := Config{URL: m.cfg.URL, Ledger: m.urls}
	if err := errors.Join(m.cfg.Validate(), wellFormed(&list)); err != nil {
		return err
	}
	if m.main, err = m.openOne(ctx, m.cfg.URL, false); err != nil {
		return err
	}
	if err := m.lock(ctx); err != nil {
		return err
	}
	if m.from, err = m.openList(ctx, "the ledger", m.cfg.Ledger); err != nil {
		return err
	}
	if m.to, err = m.openList(ctx, "the new list", m.urls); err != nil {
		return err
	}
	return m.noOtherMover(ctx)
}

// nameRun makes the connections of this call known.
func (m *mover) nameRun() {
	m.cfg.Name = moverName + fmt.Sprintf("%016x", rand.Uint64())
	m.cfg.MaxConns = moverConns
}

// openList connects to the servers of a list.
func (m *mover) openList(ctx context.Context, what string, urls []string) (list []*Store, err error) {
	for i, url := range urls {
		at, err := m.openOne(ctx, url, true)
		if err != nil {
			return nil, fmt.Errorf("server %d of %s: %w", i+1, what, err)
		}
		if slices.Contains(list, at) {
			return nil, fmt.Errorf("server %d of %s, %s, stands there twice", i+1, what, at.address())
		}
		list = append(list, at)
	}
	if len(urls) == 0 {
		list = []*Store{m.main}
	}
	return list, nil
}

// wellFormed checks the new list.
func wellFormed(list *Config) error {
	c := Default()
	c.URL, c.Ledger = list.URL, list.Ledger
	return c.Validate()
}

// openOne connects to a database, or returns what is connected to it: two URLs may name one. So each has a lock that
// can be looked up in it.
func (m *mover) openOne(ctx context.Context, url string, asItIs bool) (*Store, error) {
	cfg := m.cfg
	cfg.URL, cfg.Ledger, cfg.SkipSchema = url, nil, asItIs
	pc, err := cfg.pool()
	if err != nil {
		return nil, errors.New("postgres URL cannot be read")
	}
	pc.ConnConfig.RuntimeParams["application_name"] = m.cfg.Name
	s, err := connect(ctx, cfg, pc)
	if err != nil {
		return nil, err
	}
	s.main, s.ledger = s, []*Store{s}
	o := opened{Store: s, key: rand.Int64N(math.MaxInt64)}
	if o.conn, err = s.pool.Acquire(ctx); err == nil {
		var known *Store
		if known, err = m.sameAs(ctx, o.conn); known != nil {
			o.conn.Release()
			s.pool.Close()
			return known, nil
		}
	}
	if err == nil {
		_, err = o.conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, o.key)
	}
	m.opened = append(m.opened, o) // to be closed
	return s, err
}

const keysSQL = `SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
	AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// sameAs returns what is connected to the same database already.
func (m *mover) sameAs(ctx context.Context, conn *pgxpool.Conn) (*Store, error) {
	rows, err := conn.Query(ctx, keysSQL)
	if err != nil {
		return nil, err
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, o := range m.opened {
		if slices.Contains(keys, o.key) {
			return o.Store, nil
		}
	}
	return nil, err
}

func (m *mover) close(ctx context.Context) {
	for _, o := range m.opened {
		if o.conn != nil {
			_ = o.conn.Conn().Close(context.WithoutCancel(ctx)) // its locks end with it
			o.conn.Release()
		}
		o.pool.Close()
	}
}

// othersPatience is how long a move waits for one that was interrupted: the server has to notice.
const othersPatience = 30 * time.Second

// lock keeps others from moving the ledger of this main server.
func (m *mover) lock(ctx context.Context) error {
	return m.await(ctx, m.main.address(), func() (mine bool, err error) {
		err = m.opened[0].conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, int64(moveLock)).Scan(&mine)
		return mine, err
	})
}

// noOtherMover waits until no database executes anything for a move that was interrupted.
func (m *mover) noOtherMover(ctx context.Context) error {
	for _, o := range m.opened {
		err := m.await(ctx, o.address(), func() (none bool, err error) {
			const sql = `SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND
				starts_with(application_name, $1) AND application_name <> $2)`
			err = o.pool.QueryRow(ctx, sql, moverName, m.cfg.Name).Scan(&none)
			return none, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *mover) await(ctx context.Context, at string, done func() (bool, error)) error {
	for begun := time.Now(); ; {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if time.Since(begun) > othersPatience {
			return fmt.Errorf("another `whirlpool ledger move` is connected to %s: it must end first", at)
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// check looks whether the move may begin, and names the servers.
func (m *mover) check(ctx context.Context) error {
	if len(m.cfg.Ledger) == len(m.urls) && slices.Equal(m.from, m.to) {
		return fmt.Errorf("the ledger is on these servers already: %s", listText(addressesOf(m.to, len(m.urls))))
	}
	servers := len(m.cfg.Ledger)
	main, err := m.main.join(ctx, 0, "", servers, false)
	if err == nil && main.servers != servers {
		err = m.main.notBegunSo(main.servers)
	}
	if err != nil {
		return err
	}
	m.mark.from, m.mark.to = []string{}, []string{} // not nil: empty lists of the database
	for i := range servers {
		listed, err := m.main.listed(ctx, i+1, "")
		if err == nil && listed == "" {
			err = fmt.Errorf("%w: they are not known yet: start a program once", ErrLedger)
		}
		if err == nil {
			err = m.main.enlistOne(ctx, i+1, m.from[i], main)
		}
		if err != nil {
			return err
		}
		m.mark.from = append(m.mark.from, listed)
	}
	for i := range m.urls {
		id, err := m.targetID(ctx, m.to[i])
		if err != nil {
			return fmt.Errorf("server %d of the new list: %w", i+1, err)
		}
		m.mark.to = append(m.mark.to, id)
	}
	return nil
}

// targetID names a server of the new list: one of the present ones as it is, or a new database.
func (m *mover) targetID(ctx context.Context, at *Store) (string, error) {
	if i := slices.Index(m.from, at); i >= 0 && len(m.mark.from) > 0 {
		return m.mark.from[i], nil
	}
	if at != m.main {
		if err := m.mustBeNew(ctx, at); err != nil {
			return "", err
		}
	}
	return newID(ctx, at)
}

func (m *mover) mustBeNew(ctx context.Context, at *Store) error {
	table, err := at.filled(ctx, tablesThatAre(onMain, byHash, byHost, inNotes, onEach, ofRows, ofLooks, ofMember))
	if err == nil && table != "" {
		err = fmt.Errorf("%w: %s is no new database, and none of the ledger's: it has rows in %s. Name a new one",
			ErrLedger, at.address(), table)
	}
	return err
}

// noPrograms fails if programs are connected to the databases, as the user that the command is.
func (m *mover) noPrograms(ctx context.Context) error {
	for _, o := range m.opened {
		programs, err := connected(ctx, o.pool, m.cfg.Name)
		if err != nil {
			return err
		}
		if len(programs) > 0 {
			return fmt.Errorf("programs are connected to %s: %s. Stop those of all nodes first", o.address(),
				strings.Join(programs, ", "))
		}
	}
	return nil
}
