package simulation_test

import (
	"flag"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/simulation"
)

var moves = flag.String("sim.moves", "10", "clusters of so many nodes that one joins and one leaves")

// What a change of the ring costs as clusters grow: how long hosts wait for their new owner, and how many tables are
// stored, each of which every node reads.
func TestAChangeMovesNoMoreThanItsShareHoweverManyNodes(t *testing.T) {
	for s := range strings.SplitSeq(*moves, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) { change(t, n) })
	}
}

func change(t *testing.T, n int) {
	cfg := simulation.Default()
	cfg.Nodes, cfg.Window, cfg.HostsANode, cfg.URLsANode, cfg.SeedsANode = n, 4, 100, 1000, 50
	c := started(t, cfg)
	defer c.Stop()
	time.Sleep(10 * time.Second)
	for _, e := range []struct {
		what  string
		ideal float64
		do    func() error
	}{
		{"joins", 1 / float64(n+1), func() error { _, err := c.Add(); return err }},
		{"drains", 1 / float64(n+1), func() error { return c.Drain(t.Context(), c.Nodes()[0]) }},
		{"dies", 1 / float64(n), func() error { c.Nodes()[1].Kill(); return nil }},
	} {
		m, err := c.Move(e.what, 5*time.Minute, e.do)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%4d nodes, one %-6s: %.4f of the ring moved, %.3f of the ideal; noticed after %5.2f s, over after %5.2f s, "+
			"%d tables stored", n, m.What, m.Part,
			m.Part/e.ideal, m.Begun.Seconds(), m.Took.Seconds(), m.Writes)
		if m.Part > 1.1*e.ideal || m.Took > 30*time.Second {
			t.Errorf("%+v", m)
		}
		time.Sleep(5 * time.Second)
	}
}
