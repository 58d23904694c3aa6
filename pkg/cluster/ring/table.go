package ring

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Bounds of a ring.
const (
	MaxVnodes = 1 << 18 // 256 for each of 1,024 units of weight
	MaxNodes  = 4096
)

// PerUnit is how many virtual nodes a ring should have for each unit of weight. Owners are assigned evenly, not at
// random, so that two equal nodes differ by one virtual node: with 256 each, by 0.4 %.
const PerUnit = 256

// DefaultVnodes is the number of virtual nodes of a ring by default: 256 for each of 64 units of weight. With 1,000
// nodes each would have 16, and they would differ by 6 %: create such a ring with 256,000.
const DefaultVnodes = 64 * PerUnit

// none is the owner of a virtual node without one.
const none = ^uint16(0)

// Table is the ring at one epoch. It is a value: operations return another one. Get one from Create, Decode or an
// operation.
type Table struct {
	epoch     uint64
	seed      uint64
	partition Partition
	hash      Hash
	nodes     []Node // in the order of their names
	owner     []uint16
	from      []uint16 // the owner before, while the virtual node moves
	since     []uint64
	step      []Step
}

// Create returns the ring at epoch 1, without nodes, with the hash that suits the partition (Partition.Hash); the first
// node that joins owns all. The number of virtual nodes, the partition, the hash and the seed never change.
func Create(vnodes int, p Partition, seed uint64) (*Table, error) {
	return CreateBy(p.Hash(), vnodes, p, seed)
}

// CreateBy is Create with a hash that is chosen.
func CreateBy(h Hash, vnodes int, p Partition, seed uint64) (*Table, error) {
	if vnodes < 1 || vnodes > MaxVnodes {
		return nil, fmt.Errorf("ring of %d virtual nodes: want 1 to %d", vnodes, MaxVnodes)
	}
	if err := h.validate(); err != nil {
		return nil, err
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	t := &Table{epoch: 1, seed: seed, partition: p, hash: h, owner: make([]uint16, vnodes), from: make([]uint16, vnodes),
		since: make([]uint64, vnodes), step: make([]Step, vnodes)}
	for i := range t.owner {
		t.owner[i], t.from[i] = none, none
	}
	return t, nil
}

// Epoch returns the number of this version of the ring, from 1. Each change makes the next.
func (t *Table) Epoch() uint64 { return t.epoch }

// Partition returns what the ring's keys are.
func (t *Table) Partition() Partition { return t.partition }

// Len returns the number of virtual nodes.
func (t *Table) Len() int { return len(t.owner) }

// Nodes returns the nodes in the order of their names.
func (t *Table) Nodes() []Node { return slices.Clone(t.nodes) }

// Node returns the node of a name.
func (t *Table) Node(name string) (Node, bool) {
	i, ok := t.find(name)
	if !ok {
		return Node{}, false
	}
	return t.nodes[i], true
}

func (t *Table) find(name string) (int, bool) {
	return slices.BinarySearchFunc(t.nodes, name, func(n Node, name string) int {
		switch {
		case n.Name < name:
			return -1
		case n.Name > name:
			return 1
		}
		return 0
	})
}

// VnodeOf returns the virtual node of a key: the upper half of hash × number, so that each virtual node is an equal
// range of the hash.
func (t *Table) VnodeOf(key string) int { return t.vnodeOfHash(t.hash.of(key, t.seed)) }

func (t *Table) vnodeOfHash(h uint64) int {
	hi, _ := bits.Mul64(h, uint64(len(t.owner)))
	return int(hi)
}

// ErrEmpty says that the ring has no node.
var ErrEmpty = errors.New("the ring has no node yet")

// Owner returns the node that owns a partition key; ErrEmpty: there is no node. The result shares the table's memory,
// so do not change it. The owner may not be allowed to lease yet: see MayLease. It allocates nothing.
func (t *Table) Owner(key string) (*Node, error) {
	i := t.owner[t.VnodeOf(key)]
	if i == none {
		return nil, ErrEmpty
	}
	return &t.nodes[i], nil
}

// Step is how far a virtual node's move is. Its numbers are in stored tables.
type Step uint8

// The steps of a move, in reverse order: after Handing comes Recovering, after that it is Settled.
const (
	Settled    Step = iota // it does not move
	Handing                // the owner before, which is alive, is to stop leasing from it and end what is in flight
	Recovering             // the owner is to read its open URLs from the ledger
)

var stepNames = [...]string{"settled", "handing", "recovering"}

// String returns the step's name.
func (s Step) String() string { return stepNames[s] }

// MarshalText implements encoding.TextMarshaler.
func (s Step) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Step) UnmarshalText(text []byte) error {
	i := slices.Index(stepNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("step %q of a virtual node: want one of %q", text, stepNames)
	}
	*s = Step(i)
	return nil
}

// Vnode is a virtual node: an equal part of the hash's range.
type Vnode struct {
	Index int
	Owner string // empty: the ring has no node
	Since uint64 // epoch at which the owner got it; 0 where it has none
	Step  Step
	From  string // the owner before, while it moves; empty: there was none
}

// Vnode returns the i-th virtual node, from 0.
func (t *Table) Vnode(i int) Vnode {
	v := Vnode{Index: i, Owner: t.name(t.owner[i]), Since: t.since[i], Step: t.step[i]}
	if v.Step != Settled {
		v.From = t.name(t.from[i])
	}
	return v
}

func (t *Table) name(i uint16) string {
	if i == none {
		return ""
	}
	return t.nodes[i].Name
}

// Range returns the hashes of the i-th virtual node, both ends included.
func (t *Table) Range(i int) (first, last uint64) {
	last = ^uint64(0)
	if i+1 < t.Len() {
		last = t.start(i+1) - 1
	}
	return t.start(i), last
}

// start is the least h with ⌊h × n / 2^64⌋ = i, which is ⌈i × 2^64 / n⌉.
func (t *Table) start(i int) uint64 {
	q, r := bits.Div64(uint64(i), 0, uint64(t.Len()))
	if r > 0 {
		q++
	}
	return q
}

// MayLease reports whether a node may contact hosts of a virtual node: it owns it, and the move is over.
func (t *Table) MayLease(node string, vnode int) bool {
	i := t.owner[vnode]
	return t.step[vnode] == Settled && i != none && t.nodes[i].Name == node
}

// Counts returns how many virtual nodes each node owns, in the order of Nodes.
func (t *Table) Counts() []int {
	counts := make([]int, len(t.nodes))
	for _, o := range t.owner {
		if o != none {
			counts[o]++
		}
	}
	return counts
}

// Moving returns the virtual nodes whose move is not over.
func (t *Table) Moving() []Vnode {
	var out []Vnode
	for i, s := range t.step {
		if s != Settled {
			out = append(out, t.Vnode(i))
		}
	}
	return out
}

// SameRing reports whether two tables are versions of one ring.
func (t *Table) SameRing(other *Table) bool {
	return t.seed == other.seed && t.partition == other.partition && t.hash == other.hash &&
		len(t.owner) == len(other.owner)
}
