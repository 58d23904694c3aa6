package nodes_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// Each of a node's seven programs is killed, and started again at once: within the grace time nothing of the ring
// moves.
func TestProgramOfANodeIsKilledAndNothingMoves(t *testing.T) {
	w := serve(t, 400*time.Millisecond)
	c := newCluster(t, w.Srv, calm(t))
	c.startSeven(1, 2)
	until(t, patience, "a ring of two nodes", func() bool { return c.history.settled(2) || c.stuck() })
	first := c.history.now()
	c.seed(jobFor(w.Srv, w.Delay))
	kills := 0
	for i, p := range rand.Perm(len(harness.Names)) {
		target := (i + 1) * w.Requests / (len(harness.Names) + 3)
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= target || c.Ended("e2e") || c.stuck() })
		if c.Ended("e2e") || t.Failed() {
			break
		}
		victim := c.machines()[rand.IntN(2)].programs[p]
		c.During(victim.Name+" killed", func() { victim.Kill(t); victim.Start(t) })
		kills++
	}
	c.wait("e2e")
	c.judge(w)
	c.wantConnections(3)
	m, err := ring.Compare(first, c.history.now())
	check(t, err)
	if m.Moved > 0 {
		t.Errorf("%d virtual nodes moved because programs were restarted", m.Moved)
	}
	if kills < len(harness.Names) {
		t.Errorf("only %d programs were killed before the job had ended", kills)
	}
}
