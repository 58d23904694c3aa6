package ring

// Part is a node's part of a move that it has done: a step of a virtual node that came to its owner at an epoch.
type Part struct {
	Vnode int
	Since uint64 // Vnode.Since of the table that the node acted on
	Step  Step
}

// Part is what the node that has to do the virtual node's step says when it is done.
func (v Vnode) Part() Part { return Part{v.Index, v.Since, v.Step} }

// Done is what one registration of a node says that it has done.
type Done struct {
	Node        string
	Incarnation uint64
	Parts       []Part
}

// Finish returns the table after nodes have done their parts of moves, and how many of the parts counted. However many
// nodes there are, it is one epoch.
//
//   - The previous owner ends the step Handing: it leases nothing of the virtual node, nothing of it is in flight, all
//     its outcomes are in the ledger, and host records and clocks are in the store. The step Recovering follows.
//   - The owner ends the step Recovering: it has read the open URLs from the ledger.
//
// Both stay true, so that a part counts however late it is told, and whoever tells it. A part that does not fit the
// table is ignored, because the virtual node went elsewhere meanwhile, or the node has registered anew; the node looks
// at the new table and does what that asks for. If nothing counts, t is returned.
func (t *Table) Finish(all ...Done) (_ *Table, counted int) {
	var d *draft
	for _, done := range all {
		i, ok := t.find(done.Node)
		if !ok || t.nodes[i].Incarnation != done.Incarnation {
			continue
		}
		for _, p := range done.Parts {
			if d == nil {
				d = t.edit()
			}
			if d.finish(i, p) {
				counted++
			}
		}
	}
	if counted == 0 {
		return t, 0
	}
	return d.table(), counted
}

// finish ends the step of a part that a node has done, and reports whether it counts.
func (d *draft) finish(node int, p Part) bool {
	if p.Vnode < 0 || p.Vnode >= d.Len() || d.since[p.Vnode] != p.Since || d.step[p.Vnode] != p.Step {
		return false
	}
	switch {
	case p.Step == Handing && int(d.from[p.Vnode]) == node:
		d.step[p.Vnode] = Recovering
	case p.Step == Recovering && int(d.owner[p.Vnode]) == node:
		d.step[p.Vnode] = Settled
	default:
		return false
	}
	return true
}

// Awaited returns, in order, the names of the nodes that have to do the next step of a move.
func (t *Table) Awaited() (names []string) {
	awaited := make([]bool, len(t.nodes))
	for v, s := range t.step {
		by := none
		switch s {
		case Handing:
			by = t.from[v]
		case Recovering:
			by = t.owner[v]
		}
		if by != none {
			awaited[by] = true
		}
	}
	for i, yes := range awaited {
		if yes {
			names = append(names, t.nodes[i].Name)
		}
	}
	return names
}

// Duties returns, in order, the virtual nodes for which the node has to act next: those it has to hand over, and those
// it has to recover. A virtual node that came back before it was gone is handed from the node to itself, because
// requests may be in flight.
func (t *Table) Duties(node string) (hand, regain []Vnode) {
	i, ok := t.find(node)
	if !ok {
		return nil, nil
	}
	for v, s := range t.step {
		switch {
		case s == Handing && int(t.from[v]) == i:
			hand = append(hand, t.Vnode(v))
		case s == Recovering && int(t.owner[v]) == i:
			regain = append(regain, t.Vnode(v))
		}
	}
	return hand, regain
}

// Settle returns the table after every node has finished its moves. Simulations, measurements and tests start with such
// a ring; the nodes of a cluster finish their own moves.
func Settle(t *Table) *Table {
	for range 2 { // what is handed is to be recovered
		parts := map[string][]Part{}
		for _, v := range t.Moving() {
			by := v.Owner
			if v.Step == Handing {
				by = v.From
			}
			parts[by] = append(parts[by], v.Part())
		}
		for _, n := range t.Nodes() {
			if p := parts[n.Name]; len(p) > 0 {
				t, _ = t.Finish(Done{n.Name, n.Incarnation, p})
			}
		}
	}
	return t
}
