package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus/rabbit"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/zookeeper"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// hostOf is the host:port of a URL.
func hostOf(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// on returns an address with another host.
func on(t *testing.T, raw, host string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = host
	return u.String()
}

// join registers a node until the test ends.
func join(t *testing.T, cfg *process.Config, name, address string) *member.Member {
	t.Helper()
	zc, mc := node.ZooKeeperConfig(cfg), member.Default()
	zc.Log, mc.Log = slog.New(slog.DiscardHandler), slog.New(slog.DiscardHandler)
	store, err := zookeeper.New(zc)
	if err != nil {
		t.Fatal(err)
	}
	mc.Node, mc.Vnodes = ring.Node{Name: name, Address: address, Weight: ring.Unit}, 60
	m, err := member.New(store, mc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	return m
}

// Two nodes with a broker each. The commands ask both; one that does not answer is named, and nothing is proven of it.
func TestCommandsOverTwoNodes(t *testing.T) {
	c := newCluster(t)
	far := servicetest.Start(t, "rabbitmq")
	address, api := hostOf(t, far.Address(t, "AMQP")), hostOf(t, far.Address(t, "RABBITMQ_API"))
	c.env = append(c.env, "WHIRLPOOL_NODE=a", "WHIRLPOOL_ZOOKEEPER_ADDRESSES="+servicetest.ZooKeeper(t),
		"WHIRLPOOL_ZOOKEEPER_ROOT=/test/"+rand.Text(), "WHIRLPOOL_RING_MANAGEMENT=b=http://"+api)
	cfg, err := process.Load("", c.env)
	c.check(err)
	theirs := node.NodeConfig(cfg, "b", address)
	theirs.Log = slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.check(rabbit.Setup(ctx, far.Address(t, "RABBITMQ_API"), theirs))

	if text := c.must("status", "--cluster"); !strings.Contains(text, "1 node, 0 virtual nodes") {
		t.Errorf("before the ring has been created:\n%s", text)
	}
	a := join(t, cfg, "a", cfg.BrokerAddress())
	b := join(t, cfg, "b", address)
	for _, m := range []*member.Member{a, b} {
		c.await(m, 2)
	}
	c.must("seed", "--cluster", "-c", newTarget(t, nil).args[2])
	claim := func(path string) *crawl.Claim {
		return &crawl.Claim{Batch: crawl.Batch{Job: "test",
			Tasks: []crawl.Task{{Job: "test", URL: parseURL(t, web.Web().Seeds()[0]+path)}}}}
	}
	c.bury(1, claim("near"))
	near := c.subsystem
	c.subsystem = on(t, near, address)
	c.bury(2, claim("far"))
	c.bury(3, claim("farther"))

	all := decode[report.ClusterStatus](t, c.must("status", "--cluster", "--json")).Pipeline
	if len(all.Ring.Nodes) != 2 || all.Ring.Nodes[0].Dead != 1 || all.Ring.Nodes[1].Dead != 2 || all.DeadLetters != 3 ||
		!all.Ring.Nodes[1].Registered || all.Ring.Nodes[0].UnderWay == 0 || all.Ring.Nodes[1].UnderWay != 0 ||
		all.Ring.Vnodes != 60 {
		t.Errorf("%d dead letters, ring %+v", all.DeadLetters, all.Ring)
	}
	letters := c.must("replay", "--cluster", "--list")
	if !strings.HasPrefix(letters, "NODE") || strings.Count(letters, "\nb ") != 2 || strings.Count(letters, "\na ") != 1 {
		t.Errorf("letters:\n%s", letters)
	}
	if r := c.run("replay", "--cluster", crawl.MessageID{2}.String()); r.exit != exitOK ||
		!strings.Contains(r.stderr, "1 of 1") {
		t.Errorf("replay of a letter of b: exit status %d, %s", r.exit, r.stderr)
	}
	all = decode[report.ClusterStatus](t, c.must("status", "--cluster", "--json")).Pipeline
	if n := all.Ring.Nodes; n[1].Dead != 1 || n[1].Retrying != 1 || n[0].Dead != 1 {
		t.Errorf("after it was replayed: %+v", n)
	}

	far.Do(t, "stop", "rabbitmq")
	text := c.must("status", "--cluster")
	if !strings.Contains(text, "b's broker does not answer") || !strings.Contains(text, address) {
		t.Errorf("b is away:\n%s", text)
	}
	r := c.run("audit", "--cluster")
	if text := r.stdout; r.exit != exitUnproven || !strings.Contains(text, "later  not proven") ||
		!strings.Contains(text, "is not known: b") || strings.Contains(text, "WRONG") {
		t.Errorf("audit without b: exit status %d\n%s", r.exit, text)
	}
	r = c.run("replay", "--cluster")
	if r.exit != exitFailure || !strings.Contains(r.stderr, "1 of 1 messages put back") ||
		!strings.Contains(r.stderr, "node b ("+address+")") {
		t.Errorf("replay without b: exit status %d, %s", r.exit, r.stderr)
	}
}

// await waits until a member sees nodes that own, or are to own, the ring.
func (c *clusterUnderTest) await(m *member.Member, nodes int) {
	c.t.Helper()
	told, end := m.Watch()
	defer end()
	for deadline := time.After(patience); m.Table() == nil || len(m.Table().Nodes()) != nodes; {
		select {
		case <-told:
		case <-deadline:
			c.t.Fatalf("the ring does not get %d nodes", nodes)
		}
	}
}
