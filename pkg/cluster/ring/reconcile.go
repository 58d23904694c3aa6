package ring

import (
	"errors"
	"slices"
	"strings"
)

// Seen is what somebody sees of the nodes' registrations.
type Seen struct {
	Registered []Node              // those whose registration was read, for Join
	Present    map[string]struct{} // names of all registrations
	Dead       map[string]uint64   // names and incarnations whose registration has been missing for the grace time
}

// Reconcile returns the table that the observation s asks for, or t if nothing has to change. The result depends on t
// and s alone, and applying s to the result changes nothing. So when one member has stored it, the others find nothing
// to do.
//
// Nodes join before others die, so that what the dead owned moves once, to its final place. Nodes that could not join
// because of a dead one try again after it. A registration that cannot join at all is left out and reported.
func (t *Table) Reconcile(s Seen) (_ *Table, err error) {
	next := t
	joining := slices.Clone(s.Registered)
	slices.SortFunc(joining, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	next, joining, _ = next.joinAll(joining)
	for _, n := range t.nodes {
		if incarnation, dead := s.Dead[n.Name]; dead && n.State != Gone {
			if after, err := next.Dead(n.Name, incarnation); err == nil {
				next = after
			}
		}
		if _, present := s.Present[n.Name]; !present && n.State == Gone {
			next = next.Forget(n.Name)
		}
	}
	next, _, errs := next.joinAll(joining)
	return next, errors.Join(errs...)
}

// joinAll joins nodes in turn, and returns those that cannot.
func (t *Table) joinAll(nodes []Node) (next *Table, left []Node, errs []error) {
	next = t
	for _, n := range nodes {
		after, err := next.Join(n)
		if err != nil {
			left, errs = append(left, n), append(errs, err)
			continue
		}
		next = after
	}
	return next, left, errs
}
