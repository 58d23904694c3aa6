package nodes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// The control of the cut-offs: of two nodes one is cut off from ZooKeeper until the other has taken over all it had. If
// it does not fence itself, and PostgreSQL does not refuse what it writes, both fetch the same hosts, and the checks
// see that; a sound node fails none of them.
func TestNegativeControlNodeThatIgnoresItsFence(t *testing.T) {
	ready(t)
	if errNoSpace != nil {
		t.Skipf("nodes cannot be cut off: %v", errNoSpace)
	}
	p := quick(t)
	for i, fault := range []string{faultNone, faultUnfenced} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cut, stays := 2*i+1, 2*i+2                               // the two run at the same time
			delay := harness.Times(p.slowness, 300*time.Millisecond) // so that the crawl outlasts the session
			cfg := fakeweb.Plain(40, 40*60)
			cfg.PageBytes, cfg.Links = 2<<10, 15
			w := &world{Srv: listen(t, cfg, 0), Delay: delay}
			job := jobFor(w.Srv, w.Delay)
			job.IgnoreRobots = true
			c := newCluster(t, w.Srv, p)
			c.startBroken(fault, cut, stays)
			until(t, patience, "a ring of two nodes", func() bool { return c.history.settled(2) || c.stuck() })
			if fault == faultUnfenced { // the second line of defence is gone, too: late writes count
				crawltest.SQL(c.T, c.Ledger, "CREATE OR REPLACE FUNCTION admit(who text, which bigint, acted bigint) RETURNS "+
					"void LANGUAGE plpgsql AS $$ BEGIN END $$")
			}
			c.seed(job)
			until(t, patience, "requests", func() bool { return w.Srv.Log().Count() > 4*cfg.Hosts || c.stuck() })
			mend := cutFromZooKeeper(t, cut)
			until(t, patience, "the other to own everything", func() bool { return c.history.settled(1) || c.stuck() })
			n := w.Srv.Log().Count()
			until(t, patience, "more requests",
				func() bool { return w.Srv.Log().Count() > n+5*cfg.Hosts || c.Ended("e2e") || c.stuck() })
			for _, m := range c.machines() {
				for _, p := range m.programs {
					p.CleanUp()
				}
			}
			mend()
			hurried, unknowable := c.impolite(w)
			trespasses := c.trespasses(w)
			t.Logf("fault %s: %d requests of which %d by a node that is not the owner; %d hosts hurried (%d unknowable)", fault,
				w.Srv.Log().Count(), len(trespasses), len(hurried), unknowable)
			if fault == faultNone {
				report(t, "a sound node", append(trespasses, hurried...))
			} else if len(trespasses) == 0 || len(hurried) == 0 {
				t.Error("a node without a fence did no harm that the checks would see")
			}
		})
	}
}

// The control of the check of owners: a request by another node than the table says is found, and so is one of the new
// owner before the old one has let go.
func TestNegativeControlOwners(t *testing.T) {
	long(t)
	table := twoNodes(t)
	v := vnodeOf(t, table, "http://www.site-00000.test/")
	now := time.Now()
	tables := []version{{table, now}}
	other := map[string]string{"a": "b", "b": "a"}[v.Owner]
	if !mayAsk(tables, v.Owner, v.Index, now, hearsay) || mayAsk(tables, other, v.Index, now, hearsay) {
		t.Error("the check does not tell the owner from another node")
	}
	drained, err := table.Drain(v.Owner)
	check(t, err)
	tables = append(tables, version{drained, now.Add(time.Minute)})
	later := now.Add(2 * time.Minute)
	if !mayAsk(tables, v.Owner, v.Index, later, hearsay) || mayAsk(tables, other, v.Index, later, hearsay) {
		t.Error("the check lets the new owner lease before the old one has let go, or does not let that one end what it " +
			"began")
	}
}

// twoNodes is a settled ring of the nodes a and b.
func twoNodes(t *testing.T) *ring.Table {
	t.Helper()
	table, err := ring.Create(vnodes, ring.ByHost, 1)
	check(t, err)
	for i, name := range []string{"a", "b"} {
		table, err = table.Join(ring.Node{Name: name, Address: fmt.Sprintf("10.77.0.%d:5672", i), Weight: ring.Unit,
			Incarnation: uint64(i + 1)})
		check(t, err)
	}
	return ring.Settle(table)
}
