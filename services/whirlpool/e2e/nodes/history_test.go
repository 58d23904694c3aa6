package nodes_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/zookeeper"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// history is how the ring's table changed, as an observer saw it. Tables that stood for a moment only may be missing.
type history struct {
	mu     sync.Mutex
	tables []version
}

type version struct {
	*ring.Table
	seen time.Time
}

// observe writes history until the test ends.
func observe(t *testing.T, settings []string) *history {
	t.Helper()
	cfg, err := process.Load("", settings)
	check(t, err)
	zk := zookeeper.Default()
	zk.Servers, zk.Root, zk.Ring, zk.Log = cfg.ZooKeeper.Addresses, cfg.ZooKeeper.Root, cfg.Ring.Name,
		slog.New(slog.DiscardHandler)
	store, err := zookeeper.New(zk)
	check(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	opening, done := context.WithTimeout(ctx, 10*time.Minute)
	defer done()
	s, err := store.Open(opening)
	check(t, err)
	h := &history{}
	var work sync.WaitGroup
	work.Go(func() {
		for ctx.Err() == nil {
			if v, err := s.Read(ctx); err == nil && v.Table != nil {
				h.note(v.Table)
			}
			select {
			case <-s.Changed():
			case <-time.After(time.Second): // a sign that was lost
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		work.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *history) note(t *ring.Table) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.tables); n == 0 || h.tables[n-1].Epoch() < t.Epoch() {
		h.tables = append(h.tables, version{t, time.Now()})
	}
}

// all returns the versions so far.
func (h *history) all() []version {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]version(nil), h.tables...)
}

// now returns the newest table; nil: there is none.
func (h *history) now() *ring.Table {
	all := h.all()
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1].Table
}

// settled reports whether the ring consists of so many nodes and nothing is on its way.
func (h *history) settled(nodes int) bool {
	t := h.now()
	return t != nil && len(owners(t)) == nodes && len(t.Moving()) == 0
}

// owners are the virtual nodes of each node that owns some.
func owners(t *ring.Table) map[string]int {
	m := map[string]int{}
	counts := t.Counts()
	for i, n := range t.Nodes() {
		if counts[i] > 0 {
			m[n.Name] = counts[i]
		}
	}
	return m
}

// vnodeOf returns the virtual node of a URL's host.
func vnodeOf(t *testing.T, table *ring.Table, raw string) ring.Vnode {
	t.Helper()
	u, err := weburl.Parse(raw)
	check(t, err)
	key, err := table.Partition().Key(t.Context(), u, nil)
	check(t, err)
	return table.Vnode(table.VnodeOf(key))
}
