package experiment

import (
	"fmt"
	"math"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Rebalance says what hosts a cluster has while nodes come and go.
type Rebalance struct {
	Nodes  int // at the beginning
	Hosts  int
	PerSet int // virtual nodes a node
}

// Run moves a ring through a join, an orderly leave and a death, and counts hosts: with the tables that nodes use, and
// without nodes.
func (r Rebalance) Run() ([]Table, error) {
	t := Table{Name: "rebalance", Label: "change",
		Title: fmt.Sprintf("%d hosts on a ring, as nodes join and leave", r.Hosts),
		Columns: []Column{{Name: "nodes"}, {Name: "hosts of the fullest", Unit: "% of all", Digits: 2},
			{Name: "hosts of the emptiest", Unit: "% of all", Digits: 2},
			{Name: "spread about the mean", Unit: "%", Digits: 2, Drawn: true},
			{Name: "hosts moved", Unit: "%", Digits: 2, Drawn: true},
			{Name: "least that must move", Unit: "%", Digits: 2, Drawn: true}, {Name: "moved between others", Unit: "hosts"}}}
	table, err := ring.Create((r.Nodes+1)*r.PerSet, ring.ByHost, 1)
	for i := 0; i < r.Nodes && err == nil; i++ {
		table, err = table.Join(member(i))
	}
	if err != nil {
		return nil, err
	}
	table = ring.Settle(table)
	if err := r.row(&t, "at the beginning", table, table, ""); err != nil {
		return nil, err
	}
	newcomer, dead := member(r.Nodes), member(1)
	for _, step := range []struct {
		name, who string
		change    func(*ring.Table) (*ring.Table, error)
	}{
		{"a node joins", newcomer.Name, func(t *ring.Table) (*ring.Table, error) { return t.Join(newcomer) }},
		{"it leaves in order", newcomer.Name, func(t *ring.Table) (*ring.Table, error) { return t.Drain(newcomer.Name) }},
		{"another dies", dead.Name, func(t *ring.Table) (*ring.Table, error) { return t.Dead(dead.Name, dead.Incarnation) }},
	} {
		after, err := step.change(table)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
		after = ring.Settle(after)
		if err := r.row(&t, step.name, table, after, step.who); err != nil {
			return nil, err
		}
		table = after
	}
	return []Table{t}, nil
}

func member(i int) ring.Node {
	return ring.Node{Name: fmt.Sprintf("node%d", i), Address: fmt.Sprintf("10.0.0.%d:5672", i+1), Weight: ring.Unit,
		Incarnation: uint64(i + 1)}
}

// row counts the hosts of each node after a change, and those that moved. who came or went.
func (r Rebalance) row(t *Table, label string, before, after *ring.Table, who string) error {
	by := map[string]int{}
	moved, others, must := 0, 0, 0
	for i := range r.Hosts {
		host := fmt.Sprintf("www.site%d.example", i)
		from, err := before.Owner(host)
		if err != nil {
			return err
		}
		to, err := after.Owner(host)
		if err != nil {
			return err
		}
		by[to.Name]++
		if from.Name == to.Name {
			continue
		}
		moved++
		if from.Name != who && to.Name != who {
			others++
		}
	}
	if before != after {
		must = r.Hosts / max(len(by), nodesWith(before, r.Hosts))
	}
	least, most := math.MaxInt, 0
	for _, n := range by {
		least, most = min(least, n), max(most, n)
	}
	all, mean := float64(r.Hosts), float64(r.Hosts)/float64(len(by))
	spread := max(float64(most)-mean, mean-float64(least)) / mean
	t.Add(label, float64(len(by)), 100*float64(most)/all, 100*float64(least)/all, 100*spread, 100*float64(moved)/all,
		100*float64(must)/all, float64(others))
	return nil
}

// nodesWith is how many nodes own some of the hosts.
func nodesWith(t *ring.Table, hosts int) int {
	names := map[string]bool{}
	for i := range hosts {
		if n, err := t.Owner(fmt.Sprintf("www.site%d.example", i)); err == nil {
			names[n.Name] = true
		}
	}
	return len(names)
}
