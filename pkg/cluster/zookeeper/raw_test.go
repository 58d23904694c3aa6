package zookeeper_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/zookeeper"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// raw is a connection of somebody with a ZooKeeper shell.
func raw(t *testing.T) *zk.Conn {
	t.Helper()
	c, _, err := zk.Connect([]string{servicetest.ZooKeeper(t)}, timeout, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestZooKeeperHoldsTheLargestTable(t *testing.T) {
	c, path := raw(t), strings.ReplaceAll(config("").Root[1:], "/", "-")
	if _, err := c.Create("/"+path, make([]byte, ring.MaxEncoded), zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Set("/"+path, make([]byte, ring.MaxEncoded), 0); err != nil {
		t.Fatal(err)
	}
	if b, _, err := c.Get("/" + path); err != nil || len(b) != ring.MaxEncoded {
		t.Errorf("%d octets, %v", len(b), err)
	}
	if _, err := c.Create("/"+path+"-too-large", make([]byte, 2*ring.MaxEncoded), zk.FlagEphemeral,
		zk.WorldACL(zk.PermAll)); err == nil {
		t.Error("there is no limit")
	}
}

func TestWhatSomebodyRemovesUnderAMember(t *testing.T) {
	cfg := config(servicetest.ZooKeeper(t))
	s, err := zookeeper.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	mc := member.Default()
	mc.Node, mc.Vnodes, mc.Log = ring.Node{Name: "n", Address: "n:1", Weight: ring.Unit}, 64, slog.New(slog.DiscardHandler)
	m, err := member.New(s, mc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	c, end := m.Watch()
	defer end()
	await := func(what string, ok func(k ring.Token) bool) (k ring.Token) {
		t.Helper()
		for timer := time.After(10 * time.Minute); ; {
			if k, is := m.Token(); is && ok(k) {
				return k
			}
			select {
			case <-c:
			case <-timer:
				t.Fatalf("%s: not so", what)
			}
		}
	}
	first := await("it is a member", func(ring.Token) bool { return true })
	shell := raw(t)
	if err := shell.Delete(cfg.Root+"/main/nodes/n", -1); err != nil {
		t.Fatal(err)
	}
	await("it registers anew", func(k ring.Token) bool { return k.Incarnation > first.Incarnation })
	if err := shell.Delete(cfg.Root+"/main/table", -1); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "deleted") || !m.Fenced() {
			t.Errorf("it ended with %v, fenced: %v", err, m.Fenced())
		}
	case <-time.After(10 * time.Minute):
		t.Error("it goes on without the ring's table")
	}
}
