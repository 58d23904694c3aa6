package ring

import "fmt"

// Share is what a node owns before and after a change.
type Share struct {
	Node   string `json:"node"`
	Weight Weight `json:"weight"`
	Before int    `json:"before"` // virtual nodes
	After  int    `json:"after"`
}

// Flow is how many virtual nodes go from one node to another. From is empty where they had no owner.
type Flow struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Vnodes int    `json:"vnodes"`
}

// Movement is the difference of two tables of one ring.
type Movement struct {
	Vnodes int     `json:"vnodes"` // of the ring
	Moved  int     `json:"moved"`
	Shares []Share `json:"shares"` // by name
	Flows  []Flow  `json:"flows"`  // by the names of from and to
}

// Part returns the moved part of the ring, 0 to 1.
func (m Movement) Part() float64 { return float64(m.Moved) / float64(m.Vnodes) }

// Compare returns what a change moved.
func Compare(before, after *Table) (Movement, error) {
	if before.Len() != after.Len() {
		return Movement{}, fmt.Errorf("tables of %d and %d virtual nodes belong to two rings", before.Len(), after.Len())
	}
	m := Movement{Vnodes: before.Len()}
	type way struct{ from, to string }
	flows := map[way]int{}
	counts := map[string]Share{}
	for i, t := range []*Table{before, after} {
		for j, n := range t.Counts() {
			s := counts[t.nodes[j].Name]
			s.Node, s.Weight = t.nodes[j].Name, t.nodes[j].Weight
			if i == 0 {
				s.Before = n
			} else {
				s.After = n
			}
			counts[s.Node] = s
		}
	}
	for v := range before.owner {
		if a, b := before.name(before.owner[v]), after.name(after.owner[v]); a != b {
			flows[way{a, b}]++
			m.Moved++
		}
	}
	for _, name := range sortedKeys(counts, func(a, b string) bool { return a < b }) {
		m.Shares = append(m.Shares, counts[name])
	}
	for _, w := range sortedKeys(flows,
		func(a, b way) bool { return a.from < b.from || a.from == b.from && a.to < b.to }) {
		m.Flows = append(m.Flows, Flow{w.from, w.to, flows[w]})
	}
	return m, nil
}

// Change is one that can be planned.
type Change struct {
	Join   string // name of a node that would join, with Weight
	Weight Weight
	Leave  string // name of a node that would leave in order
}

// Plan returns what a change would move.
func (t *Table) Plan(c Change) (Movement, error) {
	var after *Table
	var err error
	switch {
	case (c.Join == "") == (c.Leave == ""):
		return Movement{}, fmt.Errorf("plan: want a node that joins or one that leaves")
	case c.Join != "":
		if n, ok := t.Node(c.Join); ok && n.State != Gone {
			return Movement{}, fmt.Errorf("plan: node %s is in the ring already", c.Join)
		}
		after, err = t.Join(Node{Name: c.Join, Address: "planned:5672", Weight: c.Weight, Incarnation: ^uint64(0)})
	default:
		after, err = t.Drain(c.Leave)
	}
	if err != nil {
		return Movement{}, err
	}
	return Compare(t, after)
}
