package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Agents are the programs of all nodes, as they say of themselves, and what is asked of them.
type Agents struct{ s *Store }

// Agents returns the programs of all nodes.
func (s *Store) Agents() *Agents { return &Agents{s} }

// Wishes of people about a program.
const (
	WishWork  = ""
	WishStop  = "stop"  // it takes nothing until somebody wishes it to work
	WishDrain = "drain" // it finishes what is in hand and ends
)

// An agent is gone when it was not heard of for AgentGone, which is several beats, and forgotten after agentForget.
const (
	AgentGone   = 30 * time.Second
	agentForget = time.Hour
)

// Errors of a wish.
var (
	ErrNoAgent = errors.New("no such program runs")
	ErrEnding  = errors.New("the program is about to end") // nothing else can be asked of it
)

// Agent is a program of a node.
type Agent struct {
	ID      string    `json:"-"` // another one after each start
	Node    string    `json:"-"`
	Program string    `json:"-"`
	Seen    time.Time `json:"-"` // by the database's clock
	Wish    string    `json:"-"`

	Version  string         `json:"version"`
	Host     string         `json:"host"`
	Started  time.Time      `json:"started"`
	Epoch    uint64         `json:"epoch"`   // of the ring's table that it goes by; 0: a node on its own
	Busy     int64          `json:"busy"`    // messages in hand
	Handled  int64          `json:"handled"` // since its start
	Since    time.Time      `json:"since"`   // it is busy, or idle, since then
	Workers  map[string]int `json:"workers"` // of each of its stages: how many messages it may handle at once
	CPUs     int            `json:"cpus"`
	Memory   int64          `json:"memory"`    // bytes that it has from the system
	DiskFree int64          `json:"disk_free"` // bytes, where bodies lie
	DiskAll  int64          `json:"disk_all"`
	Settings int64          `json:"settings"` // version of the run-time settings that it goes by
	// Plugins is JSON that this package does not read: what the nodes of jobs' pipelines did in the program.
	Plugins json.RawMessage `json:"plugins,omitempty"`
}

// Orders are what an agent is to do.
type Orders struct {
	Wish     string
	Settings map[string]string
	Version  int64 // of the settings: the largest
	// Others are how many programs of the same name run on the node besides, with smaller ids, and are not asked to stop
	// or to end: who has one may go when it has nothing to do.
	Others int
}

const (
	beatSQL = `INSERT INTO agents (id, node, program, seen, beat) VALUES ($1, $2, $3, now(), $4)
		ON CONFLICT (id) DO UPDATE SET seen = now(), beat = excluded.beat
		RETURNING wish, (SELECT count(*) FROM agents o WHERE o.node = $2 AND o.program = $3 AND o.id < $1 AND o.wish = '' AND o.seen > now() - $5::interval)`
	programSettingsSQL = `SELECT key, value, version FROM program_settings`
	leaveSQL           = `DELETE FROM agents WHERE id = $1 OR seen < now() - $2::interval`
	agentsSQL          = `SELECT id, node, program, seen, wish, beat FROM agents WHERE seen > now() - $1::interval ORDER BY node, program, id`
	wishSQL            = `UPDATE agents SET wish = $2 WHERE id = $1 AND wish <> 'drain' AND seen > now() - $3::interval`
	wishedSQL          = `SELECT wish FROM agents WHERE id = $1 AND seen > now() - $2::interval`
	putSettingSQL      = `INSERT INTO program_settings (key, value, version) VALUES ($1, $2, $3)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version WHERE program_settings.version < excluded.version`
)

// Beat notes that a program runs, and returns what it is to do.
func (a *Agents) Beat(ctx context.Context, g *Agent) (o Orders, err error) {
	beat, err := json.Marshal(g)
	if err != nil {
		return o, err
	}
	err = a.s.do(ctx, "heartbeat of "+g.ID, func(ctx context.Context) error {
		o = Orders{Settings: map[string]string{}}
		row := a.s.pool.QueryRow(ctx, beatSQL, g.ID, g.Node, g.Program, beat, AgentGone)
		if err := row.Scan(&o.Wish, &o.Others); err != nil {
			return err
		}
		rows, err := a.s.pool.Query(ctx, programSettingsSQL)
		if err != nil {
			return err
		}
		var key, value string
		var version int64
		_, err = pgx.ForEachRow(rows, []any{&key, &value, &version}, func() error {
			o.Settings[key], o.Version = value, max(o.Version, version)
			return nil
		})
		return err
	})
	return o, err
}

// Leave forgets a program that ends, and those that were not heard of for an hour.
func (a *Agents) Leave(ctx context.Context, id string) error {
	return a.s.do(ctx, "end of "+id, func(ctx context.Context) error {
		_, err := a.s.pool.Exec(ctx, leaveSQL, id, agentForget)
		return err
	})
}

// All returns the programs that run, by node and name.
func (a *Agents) All(ctx context.Context) (out []Agent, err error) {
	err = a.s.do(ctx, "programs that run", func(ctx context.Context) error {
		rows, err := a.s.pool.Query(ctx, agentsSQL, AgentGone)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (g Agent, err error) {
			var id, node, program, wish string
			var seen time.Time
			var beat []byte
			if err := row.Scan(&id, &node, &program, &seen, &wish, &beat); err != nil {
				return g, err
			}
			if err := json.Unmarshal(beat, &g); err != nil {
				return g, fmt.Errorf("stored heartbeat of %s: %w", id, err)
			}
			g.ID, g.Node, g.Program, g.Seen, g.Wish = id, node, program, seen, wish
			return g, nil
		})
		return err
	})
	return out, err
}

// Wish asks something of a program that runs. One that is to end cannot be asked for anything else. ErrNoAgent where no
// such program runs.
func (a *Agents) Wish(ctx context.Context, id, wish string) error {
	return a.s.do(ctx, "wish for "+id, func(ctx context.Context) error {
		tag, err := a.s.pool.Exec(ctx, wishSQL, id, wish, AgentGone)
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		var present string
		err = a.s.pool.QueryRow(ctx, wishedSQL, id, AgentGone).Scan(&present)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return ErrNoAgent
		case err == nil && present != wish:
			return ErrEnding
		}
		return err
	})
}

// Configure stores a setting of all programs. One of an earlier version changes nothing, so that whoever is late undoes
// nothing.
func (a *Agents) Configure(ctx context.Context, key, value string, version int64) error {
	return a.s.do(ctx, "setting "+key, func(ctx context.Context) error {
		_, err := a.s.pool.Exec(ctx, putSettingSQL, key, value, version)
		return err
	})
}
