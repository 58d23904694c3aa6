package ring

// Part is a node's part of a move that it has done: a step of a virtual node that came to its owner at an epoch.
type Part struct {
	Vnode int
	Since uint64 // Vnode.Since of the table that the node acted on
	Step  Step
}

// Part is what the node that has to do the virtual node's step says when it is done.
func (v Vnode) Part() Part { return Part{v.Index, v.Since, v.Step} }

// Finish returns the table after a node has done its parts of moves, and how many of the parts counted.
//
//   - The previous owner ends the step Handing: it leases nothing of the virtual node, nothing of it is in flight, all
//     its outcomes are in the ledger, and host records and clocks are in the store. The step Recovering follows.
//   - The owner ends the step Recovering: it has read the open URLs from the ledger.
//
// A part that does not fit the table is ignored, because the virtual node went elsewhere meanwhile; the node looks at
// the new table and does what that asks for. If nothing counts, t is returned.
func (t *Table) Finish(node string, incarnation uint64, parts ...Part) (_ *Table, counted int) {
	i, ok := t.find(node)
	if !ok || t.nodes[i].Incarnation != incarnation {
		return t, 0
	}
	d := t.edit()
	for _, p := range parts {
		if p.Vnode < 0 || p.Vnode >= t.Len() || t.since[p.Vnode] != p.Since {
			continue
		}
		switch {
		case p.Step != d.step[p.Vnode]:
			continue
		case p.Step == Handing && int(d.from[p.Vnode]) == i:
			d.step[p.Vnode] = Recovering
		case p.Step == Recovering && int(d.owner[p.Vnode]) == i:
			d.step[p.Vnode] = Settled
		default:
			continue
		}
		counted++
	}
	if counted == 0 {
		return t, 0
	}
	return d.table(), counted
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
				t, _ = t.Finish(n.Name, n.Incarnation, p...)
			}
		}
	}
	return t
}
