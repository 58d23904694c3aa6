package simulation

import (
	"context"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Verdict is what came of a crawl that has ended.
type Verdict struct {
	Pages    int   // that can be reached from the seeds
	Lost     int   // of them, those without outcome
	Again    int64 // pages fetched more than once
	AtOnce   int64 // requests to a host that had one under way
	Hurried  int64 // requests that came too soon
	Unclaim  int64 // pages whose links are still awaited
	Buried   int   // messages that no handler could make sense of
	Faults   []string
	Examples []string
	Ended    bool // before its time was up
}

// Sound reports whether nothing is wrong.
func (v *Verdict) Sound() bool {
	return v.Ended && v.Lost == 0 && v.AtOnce == 0 && v.Hurried == 0 && v.Unclaim == 0 && v.Buried == 0 &&
		len(v.Faults) == 0
}

// still is how long nothing must change before a crawl counts as ended: longer than any message waits, and than a
// failed host rests.
const still = 10 * time.Minute

// End waits until the crawl has ended, at most for so long, and judges it.
func (c *Cluster) End(most time.Duration) Verdict {
	v := Verdict{Ended: true}
	began, last := time.Now(), int64(-1)
	for quiet := time.Now(); time.Since(quiet) < still; time.Sleep(time.Second) {
		c.ledger.mu.Lock()
		now := c.ledger.claimed + c.ledger.done + c.ledger.reopened
		c.ledger.mu.Unlock()
		if now != last {
			last, quiet = now, time.Now()
		}
		if time.Since(began) > most {
			v.Ended = false
			break
		}
	}
	return c.judge(v)
}

func (c *Cluster) judge(v Verdict) Verdict {
	reachable := c.web.reachable()
	fetched := int64(0)
	for _, n := range c.nodes {
		fetched += n.pages.Load()
		n.broker.mu.Lock()
		v.Buried += len(n.broker.buried)
		v.Faults = append(v.Faults, n.broker.buried...)
		n.broker.mu.Unlock()
	}
	for p, yes := range reachable {
		if !yes {
			continue
		}
		v.Pages++
		if c.ledger.urls[p].state != crawl.StateDone {
			v.Lost++
			if len(v.Examples) < maxExamples {
				v.Examples = append(v.Examples,
					fmt.Sprintf("%s is %s", c.web.url(c.web.host(uint32(p)), uint32(p)), c.ledger.urls[p].state))
			}
		}
	}
	v.Again = fetched - c.ledger.pages
	v.AtOnce, v.Hurried = c.watch.atOnce, c.watch.hurried
	v.Examples = append(v.Examples, c.watch.examples...)
	v.Unclaim, _ = c.following.Waiting(context.Background(), jobID)
	for _, err := range c.errs {
		v.Faults = append(v.Faults, err.Error())
	}
	return v
}

// reachable tells which pages can be reached from the seeds.
func (w *web) reachable() []bool {
	seen := make([]bool, w.pages())
	var todo []uint32
	add := func(p uint32) {
		if !seen[p] {
			seen[p] = true
			todo = append(todo, p)
		}
	}
	for i := range w.seeds() {
		add(w.first[w.seed(i)])
	}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, q := range w.links(p) {
			add(q)
		}
	}
	return seen
}

// Move is what one change of the ring came to.
type Move struct {
	What  string
	Part  float64 // of the ring
	Begun time.Duration
	Took  time.Duration // until nothing was on its way any more
	// Writes are the tables that were stored for it.
	Writes int
}

// Move changes the ring, waits (up to a limit) until the change has been noticed and all its moves are over, and
// returns the moves.
func (c *Cluster) Move(what string, most time.Duration, do func() error) (Move, error) {
	before, writes, began := c.newest(), c.server.Writes(), time.Now()
	m := Move{What: what}
	if err := do(); err != nil {
		return m, err
	}
	for time.Since(began) < most {
		t := c.newest()
		if changed := t.Epoch() != before.Epoch(); changed && m.Begun == 0 {
			m.Begun = time.Since(began)
			moved, err := ring.Compare(before, t)
			if err != nil {
				return m, err
			}
			m.Part = moved.Part()
		}
		if m.Begun > 0 && len(t.Moving()) == 0 {
			m.Took, m.Writes = time.Since(began), c.server.Writes()-writes
			return m, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return m, fmt.Errorf("%s: not over after %v", what, most)
}

// newest is the newest table that any node knows.
func (c *Cluster) newest() *ring.Table {
	var newest *ring.Table
	for _, n := range c.nodes {
		if t := n.member.Table(); t != nil && (newest == nil || t.Epoch() > newest.Epoch()) {
			newest = t
		}
	}
	return newest
}

// Drain asks for a node to hand over all it has.
func (c *Cluster) Drain(ctx context.Context, n *Node) error { return n.member.Drain(ctx, n.Name) }

// Cut takes a node's way to the ring's store away.
func (n *Node) Cut() { n.way.Cut() }

// Heal gives it back.
func (n *Node) Heal() { n.way.Heal() }

// Expire ends a node's session with the ring's store.
func (n *Node) Expire() { n.way.Expire() }
