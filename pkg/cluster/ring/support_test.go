package ring

import (
	"fmt"

	"pgregory.net/rapid"
)

// node returns a node that registers.
func node(name string, weight Weight, incarnation uint64) Node {
	return Node{Name: name, Address: name + ":5672", Weight: weight, Incarnation: incarnation}
}

func must(t rapid.TB, next *Table, err error) *Table {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// settled ends all moves.
func settled(t rapid.TB, r *Table) *Table {
	t.Helper()
	r = Settle(r)
	if m := r.Moving(); len(m) > 0 {
		t.Fatalf("virtual node %+v still moves", m[0])
	}
	return r
}

// of returns a settled ring of n nodes n0, n1, … with the weights in turn.
func of(t rapid.TB, vnodes, n int, weights ...Weight) *Table {
	t.Helper()
	r, err := Create(vnodes, ByHost, 7)
	for i := range n {
		w := Unit
		if len(weights) > 0 {
			w = weights[i%len(weights)]
		}
		r = must(t, r, err)
		r, err = r.Join(node(fmt.Sprintf("n%d", i), w, uint64(i+1)))
	}
	return settled(t, must(t, r, err))
}

func compare(t rapid.TB, a, b *Table) Movement {
	t.Helper()
	m, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func names(r *Table) (all []string) {
	for _, n := range r.Nodes() {
		all = append(all, n.Name)
	}
	return all
}

// spread returns the most and the fewest virtual nodes of the nodes that own.
func spread(r *Table) (most, fewest int) {
	fewest = r.Len() + 1
	for i, n := range r.Counts() {
		if r.nodes[i].State <= Active {
			most, fewest = max(most, n), min(fewest, n)
		}
	}
	return most, fewest
}
