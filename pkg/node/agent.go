package node

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// The settings of programs that can be changed while they run.
const (
	SettingWorkers     = "workers." // followed by the name of a stage: messages that it handles at once
	SettingIdleRelease = "idle_release"
	SettingLogLevel    = "log.level"

	OnNode = "@" // between a setting's key and a node's name: it holds on that node alone, where it is not empty
)

const (
	beatEvery = 5 * time.Second
	beatLast  = 2 * time.Second // when the program ends

	maxPlugged = 200 // jobs whose pipelines a program tells of: those that it worked for last
)

// agent tells the other programs of the cluster of this one, and does what is asked of it: other bounds of workers, to
// take nothing, to end.
type agent struct {
	c     *cluster
	open  func(context.Context) (*postgres.Store, error) // of a program without a store
	store *postgres.Store
	own   *postgres.Agent
	end   func() // drains the program
	every time.Duration

	handled int64 // at the last beat
	deaf    bool  // the last beat failed
	ending  bool
}

func (c *cluster) newAgent(end func()) *agent {
	now := time.Now().UTC().Truncate(time.Millisecond)
	host, _ := os.Hostname() // without one it has no name
	return &agent{c: c, end: end, store: c.postgres, every: beatEvery, open: c.openForBeats, own: &postgres.Agent{
		ID:   c.p.Name + "@" + c.p.Config.Node + "." + rand.Text()[:8],
		Node: c.p.Config.Node, Program: c.p.Name, Version: crawl.Version, Host: host,
		Started: now, Since: now, CPUs: runtime.GOMAXPROCS(0)}}
}

// openForBeats opens the store for a program that needs it for nothing else, with one connection.
func (c *cluster) openForBeats(ctx context.Context) (*postgres.Store, error) {
	cfg := PostgresConfig(c.p.Config)
	cfg.Name, cfg.Log, cfg.MaxConns = c.p.Name, c.p.Log, 1
	return postgres.Open(ctx, cfg)
}

// run beats until ctx is done, and takes its leave then. A failure is no fault of the program: the others see that they
// do not hear of it, and it goes on by what it was told last.
func (a *agent) run(ctx context.Context) error {
	tick := time.NewTicker(a.every)
	defer tick.Stop()
	for {
		err := a.beat(ctx)
		if err != nil && ctx.Err() == nil && !a.deaf {
			a.c.p.Log.Warn("the other programs do not hear of this one", "error", err)
		}
		a.deaf = err != nil
		select {
		case <-ctx.Done():
			a.leave(ctx)
			return nil
		case <-tick.C:
		}
	}
}

func (a *agent) leave(ctx context.Context) {
	if a.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatLast)
	defer cancel()
	_ = a.store.Agents().Leave(ctx, a.own.ID) // without it the others notice in half a minute
	if a.store != a.c.postgres {
		a.store.Close()
	}
}

func (a *agent) beat(ctx context.Context) (err error) {
	if a.store == nil {
		if a.store, err = a.open(ctx); err != nil {
			return err
		}
	}
	a.look()
	orders, err := a.store.Agents().Beat(ctx, a.own)
	if err == nil {
		a.obey(&orders)
	}
	return err
}

// look brings what the program says of itself up to date.
func (a *agent) look() {
	g, now := a.own, time.Now().UTC().Truncate(time.Millisecond)
	was := g.Busy > 0 || g.Handled != a.handled
	a.handled = g.Handled
	g.Busy, g.Handled = a.c.metrics.Load()
	if is := g.Busy > 0 || g.Handled != a.handled; is != was {
		g.Since = now
	}
	if a.c.plugins != nil {
		g.Plugins = nil
		if all := a.c.plugins.Lately(maxPlugged); len(all) > 0 {
			g.Plugins, _ = json.Marshal(all) // numbers and names
		}
	}
	g.Workers = a.c.capacity.Workers(a.c.roles...)
	if m := a.c.member; m != nil {
		if t := m.Table(); t != nil {
			g.Epoch = t.Epoch()
		}
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	g.Memory = int64(mem.Sys) //nolint:gosec // it fits
	g.DiskFree, g.DiskAll = process.DiskFree(cmp.Or(a.c.p.Config.Disk.Spool, "."))
}

// idle is how long the program had nothing to do.
func (a *agent) idle() time.Duration {
	if a.own.Busy > 0 || a.own.Handled != a.handled {
		return 0
	}
	return time.Since(a.own.Since)
}

// setting is the value of a setting on the program's node.
func (a *agent) setting(o *postgres.Orders, key string) string {
	return cmp.Or(o.Settings[key+OnNode+a.own.Node], o.Settings[key])
}

// obey does what was asked of the program.
func (a *agent) obey(o *postgres.Orders) {
	for _, r := range a.c.roles {
		n := -1 // as configured
		if v, err := strconv.Atoi(a.setting(o, SettingWorkers+string(r))); err == nil && v >= 0 {
			n = v
			if r == Fetcher {
				n = process.FitFiles(n, system.OpenFiles())
			}
		}
		if o.Wish != postgres.WishWork {
			n = 0
		}
		a.c.capacity.Set(r, n)
	}
	a.c.p.SetLogLevel(a.setting(o, SettingLogLevel))
	a.own.Settings = o.Version
	release, err := time.ParseDuration(a.setting(o, SettingIdleRelease))
	switch {
	case a.ending:
	case o.Wish == postgres.WishDrain:
		a.drain("somebody asked for it")
	case err == nil && release > 0 && o.Wish == postgres.WishWork && o.Others > 0 && a.idle() >= release:
		a.drain("it had nothing to do, and another program does the same")
	}
}

func (a *agent) drain(because string) {
	a.ending = true
	a.c.p.Log.Info("the program ends: what is in hand is finished first", "because", because)
	a.end()
}
