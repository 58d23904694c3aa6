package ring

import (
	"slices"
	"strings"
)

// draft is the next table in the making. Nodes are only appended, so that indexes stay; table puts them into order.
type draft struct {
	Table
	counts []int // virtual nodes by owner
}

// edit begins the next epoch.
func (t *Table) edit() *draft {
	d := &draft{Table: Table{epoch: t.epoch + 1, seed: t.seed, partition: t.partition, hash: t.hash,
		nodes: slices.Clone(t.nodes),
		owner: slices.Clone(t.owner), from: slices.Clone(t.from), since: slices.Clone(t.since), step: slices.Clone(t.step)}}
	d.counts = d.Counts()
	return d
}

// add appends a node.
func (d *draft) add(n Node) int {
	d.nodes, d.counts = append(d.nodes, n), append(d.counts, 0)
	return len(d.nodes) - 1
}

// takes reports whether a node may be given virtual nodes.
func (d *draft) takes(i int) bool { return d.nodes[i].State == Joining || d.nodes[i].State == Active }

// give makes a node the owner of a virtual node, and records which node must let go before the new owner may lease.
// That is the owner of a settled virtual node, or the one that has not let go yet: only such a node can have leases in
// flight. This holds also if it becomes the owner again, because the virtual node may move on to a third node before
// the old owner, whose table may be old, has heard of it. Queued tasks are in the ledger, wherever they are queued, and
// every new owner reads it. ownerDead: nobody can wait for the owner.
func (d *draft) give(v, to int, ownerDead bool) {
	o, s := d.owner[v], d.step[v]
	switch {
	case s != Settled: // o never leased from it: who was waited for still is
	case o == none || ownerDead:
		d.from[v], s = o, Recovering
	default:
		d.from[v], s = o, Handing
	}
	if o != none {
		d.counts[o]--
	}
	d.counts[to]++
	d.owner[v], d.since[v], d.step[v] = uint16(to), d.epoch, s
}

// table ends the epoch: it settles the states of nodes, forgets those that nothing refers to, and puts the rest in
// order.
func (d *draft) table() *Table {
	arriving, leaving := make([]int, len(d.nodes)), make([]int, len(d.nodes))
	used := make([]bool, len(d.nodes))
	for v, s := range d.step {
		if s == Settled {
			d.from[v] = none
			continue
		}
		if o := d.owner[v]; o != none {
			arriving[o]++
		}
		if f := d.from[v]; f != none {
			used[f] = true
			if s == Handing {
				leaving[f]++
			}
		}
	}
	for i := range d.nodes {
		switch n := &d.nodes[i]; {
		case n.State == Joining && arriving[i] == 0:
			n.State = Active
		case n.State == Draining && d.counts[i] == 0 && leaving[i] == 0:
			n.State = Gone
		}
		// A node that left is remembered as long as it is registered: else it would be taken for one that joins.
		if d.nodes[i].State != Gone || d.nodes[i].Incarnation != 0 {
			used[i] = true
		}
	}
	d.order(used)
	t := d.Table
	return &t
}

// order puts the nodes that are used into the order of their names.
func (d *draft) order(used []bool) {
	var kept []int
	for i := range d.nodes {
		if used[i] {
			kept = append(kept, i)
		}
	}
	slices.SortFunc(kept, func(a, b int) int { return strings.Compare(d.nodes[a].Name, d.nodes[b].Name) })
	place := make([]uint16, len(d.nodes))
	nodes := make([]Node, len(kept))
	for to, i := range kept {
		place[i], nodes[to] = uint16(to), d.nodes[i]
	}
	for v := range d.owner {
		if o := d.owner[v]; o != none {
			d.owner[v] = place[o]
		}
		if f := d.from[v]; f != none {
			d.from[v] = place[f]
		}
	}
	d.nodes = nodes
}
