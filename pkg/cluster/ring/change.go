package ring

import (
	"errors"
	"fmt"
)

// Errors of a change.
var (
	ErrStale   = errors.New("the ring knows a later registration of this node")
	ErrUnknown = errors.New("the ring has no such node")
	ErrLast    = errors.New("no other node could take over")
	ErrAddress = errors.New("another node of the ring has this broker address")
	ErrFull    = fmt.Errorf("the ring has %d nodes already, its limit", MaxNodes)
)

// Join returns the table after a node has registered; n.State is ignored. Nothing moves between two other nodes.
//
//   - A node that the ring does not know, or that has left or died, gets its share of virtual nodes from the others.
//   - A node known with another incarnation and the same address was away for a moment. It keeps what it owns, because
//     its queues are in its broker, and goes on with a drain.
//   - A node known at another address does not have its queues there: it is dead, and joins anew.
//   - A node with another weight takes or gives the difference.
//
// Registering again with the same values returns t. ErrStale: the incarnation is older than the known one. ErrAddress:
// messages for the node would go to another one at this address; a renamed node waits until its old name is dead.
func (t *Table) Join(n Node) (*Table, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	i, known := t.find(n.Name)
	if !known && len(t.nodes) >= MaxNodes {
		return nil, ErrFull
	}
	for _, other := range t.nodes {
		if other.Address == n.Address && other.Name != n.Name && other.State != Gone {
			return nil, fmt.Errorf("node %s, address %s, which is %s's: %w", n.Name, n.Address, other.Name, ErrAddress)
		}
	}
	if !known || t.nodes[i].State == Gone && t.nodes[i].Incarnation < n.Incarnation {
		return t.enter(n), nil
	}
	switch was := t.nodes[i]; {
	case was.Incarnation > n.Incarnation:
		return nil, fmt.Errorf("node %s: %w", n.Name, ErrStale)
	case was.State == Gone: // its own drain; the registration is about to go
		return t, nil
	case was.Address != n.Address && was.Incarnation != n.Incarnation:
		d := t.edit()
		d.lose(i) // it may stay without owner for the moment: enter takes it
		return d.table().enter(n), nil
	case was.Incarnation == n.Incarnation && was.Weight == n.Weight:
		return t, nil
	}
	d := t.edit()
	was := &d.nodes[i]
	was.Incarnation = n.Incarnation
	if was.Weight != n.Weight {
		was.Weight = n.Weight
		if d.takes(i) {
			d.fit(i)
		}
	}
	return d.table(), nil
}

// enter gives a node its share.
func (t *Table) enter(n Node) *Table {
	d := t.edit()
	n.State = Joining
	i, known := t.find(n.Name)
	if known {
		d.nodes[i] = n
	} else {
		i = d.add(n)
	}
	for v, o := range d.owner {
		if o == none {
			d.give(v, i, false)
		}
	}
	d.fit(i)
	return d.table()
}

// Drain returns the table in which a node hands all it owns to the others. When all of it is finished the node is Gone
// and may stop. Nothing changes if the node drains already or has left. ErrUnknown: there is no such node. ErrLast: no
// other node could own anything.
func (t *Table) Drain(name string) (*Table, error) {
	i, ok := t.find(name)
	if !ok || t.nodes[i].State == Gone && t.nodes[i].Incarnation == 0 {
		return nil, fmt.Errorf("drain node %s: %w", name, ErrUnknown)
	}
	if s := t.nodes[i].State; s == Draining || s == Gone {
		return t, nil
	}
	d := t.edit()
	d.nodes[i].State = Draining
	if !d.anyTakes() {
		return nil, fmt.Errorf("drain node %s: %w", name, ErrLast)
	}
	d.shed(i, d.counts[i], false)
	return d.table(), nil
}

// Dead returns the table without a node that is gone for good: this incarnation will write nothing more. The others get
// what it owned and recover it from the ledger. If only draining nodes are left, they stop draining. ErrUnknown: that
// incarnation is not a member.
func (t *Table) Dead(name string, incarnation uint64) (*Table, error) {
	i, ok := t.find(name)
	if !ok || t.nodes[i].Incarnation != incarnation || incarnation == 0 {
		return nil, fmt.Errorf("node %s, incarnation %d, is dead: %w", name, incarnation, ErrUnknown)
	}
	d := t.edit()
	d.lose(i)
	return d.table(), nil
}

// lose takes everything from a node that is dead.
func (d *draft) lose(i int) {
	d.nodes[i].State, d.nodes[i].Incarnation = Gone, 0
	for v, s := range d.step {
		if s == Handing && int(d.from[v]) == i {
			d.step[v] = Recovering
		}
	}
	if !d.anyTakes() {
		for j := range d.nodes {
			if d.nodes[j].State == Draining {
				d.nodes[j].State = Active
			}
		}
	}
	if d.anyTakes() {
		d.shed(i, d.counts[i], true)
		return
	}
	for v, o := range d.owner {
		if int(o) == i { // nobody is left: the first that comes recovers it
			d.owner[v], d.from[v], d.since[v], d.step[v] = none, none, 0, 0
		}
	}
	d.counts[i] = 0
}

func (d *draft) anyTakes() bool {
	for i := range d.nodes {
		if d.takes(i) {
			return true
		}
	}
	return false
}

// Forget returns the table without the memory of a node that left. Others stay: t is returned.
func (t *Table) Forget(name string) *Table {
	i, ok := t.find(name)
	if !ok || t.nodes[i].State != Gone || t.nodes[i].Incarnation == 0 {
		return t
	}
	d := t.edit()
	d.nodes[i].Incarnation = 0
	return d.table()
}
