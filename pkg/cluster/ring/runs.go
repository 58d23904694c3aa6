package ring

import (
	"maps"
	"slices"
)

// Run is a row of the ring as people read it: neighbouring virtual nodes that are alike.
type Run struct {
	First uint64 `json:"first,string"` // hashes, both included; as text, since JSON readers round them
	Last  uint64 `json:"last,string"`
	Vnode int    `json:"vnode"` // the first
	Count int    `json:"count"`
	Owner string `json:"owner"`
	Step  Step   `json:"step"`
	From  string `json:"from,omitempty"`
	Since uint64 `json:"since"` // the latest of the row
}

// Runs returns the table as rows: hash range, virtual nodes, owner. Neighbours of one owner at one step are one row.
func (t *Table) Runs() []Run {
	var rows []Run
	for i := range t.owner {
		v := t.Vnode(i)
		first, last := t.Range(i)
		if k := len(rows) - 1; k >= 0 && rows[k].Owner == v.Owner && rows[k].Step == v.Step && rows[k].From == v.From {
			rows[k].Last, rows[k].Since = last, max(rows[k].Since, v.Since)
			rows[k].Count++
			continue
		}
		rows = append(rows, Run{First: first, Last: last, Vnode: i, Count: 1, Owner: v.Owner, Step: v.Step, From: v.From,
			Since: v.Since})
	}
	return rows
}

// sortedKeys returns the keys of m in order.
func sortedKeys[K comparable, V any](m map[K]V, less func(a, b K) bool) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		switch {
		case less(a, b):
			return -1
		case less(b, a):
			return 1
		}
		return 0
	})
}
