package member_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/memstore"
)

func config(name string) member.Config {
	cfg := member.Default()
	cfg.Node.Name, cfg.Node.Address, cfg.Vnodes, cfg.Log = name, name+":5672", 1000, slog.New(slog.DiscardHandler)
	return cfg
}

// run runs members until the returned function is called.
func run(t *testing.T, members ...*member.Member) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, m := range members {
		wg.Go(func() {
			if err := m.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	return func() { cancel(); wg.Wait() }
}

func build(t *testing.T, store member.Store, cfg member.Config) *member.Member {
	t.Helper()
	m, err := member.New(store, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The machine is suspended for longer than a session lives: what asks at the first instant after it must not pass.
func TestTheFenceIsUpAtTheFirstInstantAfterASuspension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var suspended atomic.Int64
		cfg := config("n")
		cfg.Clock = func() time.Duration { return time.Since(began) + time.Duration(suspended.Load()) }
		m := build(t, memstore.New(9*time.Second).Client(), cfg)
		if !m.Fenced() || m.Left() > 0 {
			t.Error("not fenced before it is registered")
		}
		defer run(t, m)()
		time.Sleep(time.Minute)
		if m.Fenced() || m.Left() > 6*time.Second || m.Left() < 4*time.Second {
			t.Errorf("fenced %v, %v left of six seconds", m.Fenced(), m.Left())
		}
		suspended.Store(int64(6 * time.Second))
		if _, ok := m.Token(); ok || !m.Fenced() {
			t.Error("it acts at the first instant after a suspension")
		}
	})
}

// muted is a store whose first session is never answered again, nor ended, from a moment on: as that of a ZooKeeper
// which lost its data.
type muted struct {
	member.Store
	silent atomic.Bool
	opened atomic.Int64
}

type mutedSession struct {
	member.Session
	of *muted
}

func (m *muted) Open(ctx context.Context) (member.Session, error) {
	s, err := m.Store.Open(ctx)
	if err == nil && m.opened.Add(1) == 1 {
		s = mutedSession{s, m}
	}
	return s, err
}

func (s mutedSession) Ended() <-chan struct{} { return nil }

func (s mutedSession) Ping(ctx context.Context) error {
	if s.of.silent.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Session.Ping(ctx)
}

func (s mutedSession) Read(ctx context.Context) (member.View, error) {
	if s.of.silent.Load() {
		<-ctx.Done()
		return member.View{}, ctx.Err()
	}
	return s.Session.Read(ctx)
}

// A session that the store will never take again does not keep its node fenced for ever.
func TestASessionThatHearsNothingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &muted{Store: memstore.New(9 * time.Second).Client()}
		m := build(t, store, config("n"))
		defer run(t, m)()
		time.Sleep(10 * time.Second)
		store.silent.Store(true)
		time.Sleep(45 * time.Second)
		if !m.Fenced() || store.opened.Load() != 1 {
			t.Errorf("after 45 s: fenced %t, %d sessions; want the first, and a fence", m.Fenced(), store.opened.Load())
		}
		time.Sleep(45 * time.Second)
		if m.Fenced() || store.opened.Load() != 2 {
			t.Errorf("after 90 s: fenced %t, %d sessions; want a second one, and no fence", m.Fenced(), store.opened.Load())
		}
	})
}

// All nodes of a large cluster start at once, and one of them dies: the table is written a few times, not a thousand.
func TestManyMembersWriteLittle(t *testing.T) {
	const n = 100
	synctest.Test(t, func(t *testing.T) {
		server := memstore.New(10 * time.Second)
		var all []*member.Member
		for i := range n {
			all = append(all, build(t, server.Client(), config(fmt.Sprintf("n%03d", i))))
		}
		victim := server.Client()
		dies := build(t, victim, config("victim"))
		stop, stopVictim := run(t, all...), run(t, dies)
		time.Sleep(time.Minute)
		joins := server.Writes()
		if got := len(all[0].Table().Nodes()); got != n+1 {
			t.Fatalf("%d nodes", got)
		}
		victim.Cut()
		stopVictim()
		time.Sleep(time.Minute)
		deaths := server.Writes() - joins
		for _, m := range all {
			if _, known := m.Table().Node("victim"); known && m.Table().Counts()[n] > 0 {
				t.Fatalf("%v", m.Table().Nodes()[n])
			}
		}
		t.Logf("%d writes for %d joins, %d for a death", joins, n+1, deaths)
		if joins > n/2 || deaths != 1 {
			t.Errorf("%d writes for %d joins, %d for a death", joins, n+1, deaths)
		}
		stop()
	})
}

func TestConfigsThatAreRefused(t *testing.T) {
	for name, set := range map[string]func(*member.Config){
		"a name that is a path":      func(c *member.Config) { c.Node.Name = "a/b" },
		"no address":                 func(c *member.Config) { c.Node.Address = "" },
		"no weight":                  func(c *member.Config) { c.Node.Weight = 0 },
		"too many virtual nodes":     func(c *member.Config) { c.Vnodes = ring.MaxVnodes + 1 },
		"a grace time before it was": func(c *member.Config) { c.Grace = -1 },
	} {
		cfg := config("n")
		set(&cfg)
		if _, err := member.New(memstore.New(time.Second).Client(), cfg); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestTheBootClockGoesForward(t *testing.T) {
	a := member.BootClock()
	if b := member.BootClock(); a < 0 || b < a {
		t.Errorf("%v after %v", b, a)
	}
}
