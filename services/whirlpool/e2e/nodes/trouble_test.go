package nodes_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// The troubles of nodes.
const (
	troubleJoin      = "join"
	troubleDrain     = "drain"
	troubleKill      = "kill"          // with its broker and all that this had on disk
	troubleZooKeeper = "cut-zookeeper" // for two sessions' time
	troubleOthers    = "cut-others"    // from all but the web, for a moment or long enough to be declared dead
)

// troubles are those that were asked for.
func troubles(t *testing.T) []string {
	all := []string{troubleJoin, troubleDrain, troubleKill, troubleZooKeeper, troubleOthers}
	if text := os.Getenv("WHIRLPOOL_E2E_TROUBLES"); text != "" {
		some := strings.Split(text, ",")
		for _, s := range some {
			if !slices.Contains(all, s) {
				t.Fatalf("WHIRLPOOL_E2E_TROUBLES: no trouble is called %q; there are %q", s, all)
			}
		}
		return some
	}
	return all
}

// Nodes join, leave, die and are cut off at random instants of a crawl: the same pages in the end, no host is hurried,
// none is asked by two nodes at once or by another than its owner, and what a dead node had is fetched within a minute.
// With every second seed the ledger is on three servers.
func TestNodesJoinLeaveDieAndAreCutOff(t *testing.T) {
	ready(t)
	seed := rand.Uint64()
	if text := os.Getenv("WHIRLPOOL_E2E_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		check(t, err)
	}
	for i := range harness.Number(t, "WHIRLPOOL_E2E_RUNS", 1) {
		t.Run(fmt.Sprint(seed+uint64(i)), func(t *testing.T) { troubled(t, seed+uint64(i)) })
	}
}

// tormentor brings trouble on a crawl.
type tormentor struct {
	*cluster
	w      *world
	random *rand.Rand
	joiner int
	// leaving is the node that was asked to leave; nil: none was
	leaving *machine
	// killed is the node that was killed, when, and under which table
	killed   *machine
	killedAt time.Time
	before   *ring.Table
}

func troubled(t *testing.T, seed uint64) {
	p := quick(t)
	w := serve(t, harness.Times(p.slowness, 1200*time.Millisecond)) // so that there is time for all troubles
	var settings []string
	if seed%2 == 1 {
		t.Log("the ledger is on three servers")
		settings = append(settings, crawltest.NewSpread(t, ready(t).env, 3).Setting())
	}
	c := newCluster(t, w.Srv, p, settings...)
	c.start(1, 2, 3)
	until(t, patience, "a ring of three nodes", func() bool { return c.history.settled(3) || c.stuck() })
	tor := &tormentor{cluster: c, w: w, random: rand.New(rand.NewPCG(seed, 0)), joiner: 4}
	acts := troubles(t)
	tor.random.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
	targets := make([]int, len(acts))
	for i := range targets {
		targets[i] = 1 + tor.random.IntN(w.Requests*6/10)
	}
	slices.Sort(targets)
	t.Logf("%q after %v of %d requests", acts, targets, w.Requests)
	began := time.Now()
	c.seed(jobFor(w.Srv, w.Delay))
	done := 0
	for i, target := range targets {
		until(t, patience, "requests", func() bool { return w.Srv.Log().Count() >= target || c.Ended("e2e") || c.stuck() })
		if c.Ended("e2e") || t.Failed() {
			break
		}
		tor.act(acts[i])
		done++
	}
	c.wait("e2e")
	t.Logf("the crawl took %v", time.Since(began).Round(time.Millisecond))
	tor.finishLeaving()
	c.judge(w)
	tor.wantMoves()
	tor.wantRecovery()
	switch {
	case len(c.Troubles) == 0:
		t.Errorf("none of %q came before the job had ended: the run shows nothing", acts)
	case done < len(acts):
		t.Logf("only %d of %d troubles came before the job had ended", done, len(acts))
	}
}

// victim chooses a member of the ring that is not leaving. It waits for one, because all others may be dead or cut off
// at the moment.
func (tor *tormentor) victim() *machine {
	var well []*machine
	until(tor.t, patience, "a member of the ring that is not leaving", func() bool {
		table := tor.history.now()
		well = slices.DeleteFunc(tor.alive(), func(m *machine) bool {
			n, known := table.Node(m.name)
			return m == tor.leaving || !known || n.State == ring.Gone
		})
		return len(well) > 0
	})
	return well[tor.random.IntN(len(well))]
}

func (tor *tormentor) act(what string) {
	t := tor.t
	switch what {
	case troubleJoin:
		tor.During(what, func() { tor.start(tor.joiner) })
	case troubleDrain:
		tor.leaving = tor.victim()
		t.Logf("%s: %s", what, tor.leaving.name)
		until(t, patience, "somebody to take over", tor.heirs) // others may be cut off, or dead
		tor.During(what, func() { tor.drain(tor.leaving) })
	case troubleKill:
		m := tor.victim()
		t.Logf("%s: %s", what, m.name)
		tor.During(what, func() { tor.killNode(m) })
	case troubleZooKeeper, troubleOthers:
		if errNoSpace != nil {
			t.Logf("%s left out: %v", what, errNoSpace)
			return
		}
		m := tor.victim()
		cut, length := cutFromZooKeeper, 2*tor.pace.session
		if what == troubleOthers {
			cut, length = cutFromOthers, time.Second+time.Duration(tor.random.Int64N(int64(2*(tor.pace.session+tor.pace.grace))))
		}
		t.Logf("%s: %s for %v", what, m.name, length.Round(time.Millisecond))
		tor.During(what, func() {
			mend := cut(t, m.n)
			within(length, func() bool { return tor.stuck() })
			mend()
		})
	}
}

// drain asks a node to leave. One that was cut off may be out of the ring for the moment: then it is asked again.
func (tor *tormentor) drain(m *machine) {
	tor.t.Helper()
	var out string
	var err error
	until(tor.t, patience, m.name+" to be in the ring", func() bool {
		out, err = tor.command(m, "ring", "drain", m.name, "--cluster")
		return err == nil || !strings.Contains(out, ring.ErrUnknown.Error())
	})
	if err != nil {
		tor.t.Fatalf("drain %s: %v\n%s", m.name, err, out)
	}
}

// heirs reports whether there are other nodes in the ring than the one that leaves.
func (tor *tormentor) heirs() bool {
	return tor.stuck() || slices.ContainsFunc(tor.history.now().Nodes(),
		func(n ring.Node) bool { return n.State == ring.Active && n.Name != tor.leaving.name })
}

// killNode kills a node with its broker, for good: what this had on disk is deleted.
func (tor *tormentor) killNode(m *machine) {
	tor.killed, tor.killedAt, tor.before = m, time.Now(), tor.history.now()
	m.gone = true
	for _, p := range m.programs {
		p.Kill(tor.t)
	}
	check(tor.t, tor.services.loseBroker(m.n))
	check(tor.t, os.RemoveAll(filepath.Join(tor.Dir, m.name, "spool")))
}

// finishLeaving stops the node that was asked to leave, when it has, and has passed on what it held: what waits for a
// broker that was out of reach waits for ten seconds.
func (tor *tormentor) finishLeaving() {
	if tor.leaving == nil || tor.leaving.gone {
		return
	}
	until(tor.t, patience, tor.leaving.name+" to be gone from the ring", func() bool {
		n, known := tor.history.now().Node(tor.leaving.name)
		return !known || n.State == ring.Gone
	})
	var held []string
	if !within(patience, func() bool {
		held = slices.DeleteFunc(tor.queued(), func(s string) bool { return !strings.HasPrefix(s, tor.leaving.name+":") })
		return len(held) == 0
	}) {
		report(tor.t, "a node that has left holds something", held)
	}
	for _, p := range tor.leaving.programs {
		p.Stop(tor.t)
	}
	tor.leaving.gone = true
}

// wantMoves checks that a node that joins gets a part of the ring that is within 20 % of one by the number of nodes,
// and that nothing moves between the others.
func (tor *tormentor) wantMoves() {
	tables := tor.history.all()
	name := spaceOf(tor.joiner)
	for i := 1; i < len(tables); i++ {
		before, after := tables[i-1].Table, tables[i].Table
		if owners(before)[name] > 0 || owners(after)[name] == 0 {
			continue
		}
		m, err := ring.Compare(before, after)
		check(tor.t, err)
		share := 1 / float64(len(owners(after)))
		tor.t.Logf("%s joined: %.1f %% of the ring moved, one by the number of nodes is %.1f %%", name, 100*m.Part(),
			100*share)
		if after.Epoch() == before.Epoch()+1 && math.Abs(m.Part()-share) > share/5 {
			tor.t.Errorf("%s joined and %.1f %% of the ring moved, want %.1f %% within a fifth", name, 100*m.Part(), 100*share)
		}
	}
}

// wantRecovery checks that a host of the killed node was fetched by another soon enough.
func (tor *tormentor) wantRecovery() {
	if tor.killed == nil || errNoSpace != nil {
		return
	}
	first := time.Time{}
	for _, e := range tor.w.Srv.Log().Entries() {
		at := time.Unix(0, e.Start)
		if at.Before(tor.killedAt) || asker(e) == tor.killed.name || !first.IsZero() && at.After(first) {
			continue
		}
		if vnodeOf(tor.t, tor.before, fmt.Sprintf("http://%s:%d/", e.Host, tor.w.Srv.Port())).Owner == tor.killed.name {
			first = at
		}
	}
	if first.IsZero() {
		tor.t.Logf("%s had nothing left to fetch when it was killed", tor.killed.name)
		return
	}
	took := first.Sub(tor.killedAt)
	tor.t.Logf("the first host of %s was fetched by another %v after its death", tor.killed.name,
		took.Round(time.Millisecond))
	if limit := harness.Times(tor.pace.slowness, time.Minute); took > limit {
		tor.t.Errorf("recovery began %v after the death of %s, want within %v", took, tor.killed.name, limit)
	}
}
