package simulation_test

import (
	"flag"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/simulation"
)

var troubleNodes = flag.Int("sim.trouble", 5, "nodes of the cluster that things happen to")

// troubled is a cluster bound by politeness: with few hosts a node each is contacted as often as it may be, on both
// sides of a move.
func troubled() simulation.Config {
	cfg := simulation.Default()
	cfg.Nodes, cfg.Window, cfg.HostsANode, cfg.URLsANode, cfg.MaxHost = *troubleNodes, 8, 40, 2000, 60
	cfg.SeedsANode = 20
	cfg.Delay = 5 * time.Second
	return cfg
}

// trouble runs a crawl to its end while nodes join, drain, die and lose their sessions.
func trouble(t *testing.T, cfg simulation.Config) (v simulation.Verdict) {
	synctest.Test(t, func(t *testing.T) {
		c := started(t, cfg)
		defer c.Stop()
		time.Sleep(20 * time.Second)
		nodes := c.Nodes()
		for _, e := range []struct {
			what string
			do   func() error
		}{
			{"a node joins", func() error { _, err := c.Add(); return err }},
			{"a node drains", func() error { return c.Drain(t.Context(), nodes[1]) }},
			{"a node dies", func() error { nodes[2].Kill(); return nil }},
			{"a node is cut off from the ring", func() error { nodes[3].Cut(); return nil }},
			{"it comes back", func() error { nodes[3].Heal(); return nil }},
			{"a session ends", func() error { nodes[0].Expire(); return nil }},
			{"another node joins", func() error { _, err := c.Add(); return err }},
			{"another node dies", func() error { nodes[4].Kill(); return nil }},
		} {
			m, err := c.Move(e.what, 2*time.Minute, e.do)
			if err != nil {
				t.Error(err)
			}
			t.Logf("%-32s %.3f of the ring moved, noticed after %6.2f s, over after %6.2f s, %d tables", m.What, m.Part,
				m.Begun.Seconds(), m.Took.Seconds(), m.Writes)
			time.Sleep(10 * time.Second)
		}
		v = c.End(time.Hour)
		t.Logf("%+v", v)
	})
	return v
}

func TestNothingIsLostAndNoHostIsHurriedWhateverHappensToNodes(t *testing.T) {
	if v := trouble(t, troubled()); !v.Sound() {
		t.Errorf("%+v", v)
	}
}

func TestNegativeControlWithoutTheFence(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	cfg := troubled()
	cfg.Broken.Unfenced = "n3" // which is cut off
	if v := trouble(t, cfg); v.AtOnce+v.Hurried == 0 {
		t.Error("a node that believes too long in its place hurried nobody")
	}
}

func TestNegativeControlWithoutSince(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes several crawls")
	}
	cfg := troubled()
	cfg.Broken.NoSince = true
	for range 10 { // it takes a host that is contacted on both sides of a move
		if v := trouble(t, cfg); v.Hurried > 0 {
			return
		}
		cfg.Seed++
	}
	t.Error("nodes that do not know since when a host is theirs hurried nobody")
}

func TestNegativeControlWithoutFollowing(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	cfg := troubled()
	cfg.Broken.NoFollow, cfg.Work = true, time.Second
	if v := trouble(t, cfg); v.Unclaim == 0 {
		t.Error("no links were lost with a node whose links nobody follows")
	}
}

func TestNegativeControlWithoutRecovery(t *testing.T) {
	if testing.Short() {
		t.Skip("a second of CPU time or more")
	}
	cfg := troubled()
	cfg.Broken.NoRecovery = true
	if v := trouble(t, cfg); v.Lost == 0 {
		t.Error("nothing was lost with a node whose queues nobody recovers")
	}
}
